import { useEffect, useRef, type ReactNode } from 'react';

interface PageProps {
  title: string;
  /** At the right of the title, such as the button that adds one. */
  actions?: ReactNode;
  /** One sentence, where the title does not say it. */
  about?: ReactNode;
  /** The way back up, above the title. */
  above?: ReactNode;
  /** As wide as a form or a text, rather than as a table. */
  isNarrow?: boolean;
  children: ReactNode;
}

/** The frame of every page. Coming to it moves the focus to its title, so that a screen reader says where one is. */
export function Page({ title, actions, about, above, isNarrow = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Weir`;
  }, [title]);
  useEffect(() => {
    // Not over a field that asked for the focus, and not at the first page, which the reader announces by itself.
    if (document.activeElement === document.body || document.activeElement?.closest('nav') !== null)
      heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className={isNarrow ? 'page page-narrow' : 'page'}>
      {above !== undefined && <div className="page-above">{above}</div>}
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {about !== undefined && <p className="page-about">{about}</p>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  title: string;
  actions?: ReactNode;
  about?: ReactNode;
  children: ReactNode;
}

/** A part of a page under a heading of its own. */
export function Section({ title, actions, about, children }: SectionProps) {
  return (
    <section className="section" aria-label={title}>
      <header className="section-head">
        <h2>{title}</h2>
        {actions !== undefined && <div className="section-actions">{actions}</div>}
      </header>
      {about !== undefined && <p className="section-about">{about}</p>}
      {children}
    </section>
  );
}
