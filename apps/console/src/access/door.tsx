import { useEffect, type ReactNode } from 'react';
import mark from '../styles/weir.svg';
import './door.css';

/** The frame of the pages before one is signed in. */
export function Door({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Weir`;
  }, [title]);
  return (
    <main className="door">
      <div className="door-box">
        <img src={mark} width="32" height="32" alt="Weir" />
        <h1>{title}</h1>
        {about !== undefined && <p className="door-about">{about}</p>}
        {children}
      </div>
    </main>
  );
}
