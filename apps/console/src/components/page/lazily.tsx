import { Button } from '@mantine/core';
import { useEffect, useState, type ComponentType, type ReactNode } from 'react';
import { loadPart } from '../../api/load-part.ts';
import { ProblemBox } from '../outcomes/problem-box.tsx';

const OPENING = (
  <p className="opening" role="status">
    Loading …
  </p>
);

/**
 * A component that is loaded when it is first drawn: a dialog, or a tab that is not the first one. Whoever opens the page does not
 * wait for what only the next press shows. One that cannot be loaded says so in its place, and the next press tries again.
 */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  meanwhile: ReactNode = OPENING,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props) {
    const [Drawn, setDrawn] = useState(() => loaded);
    const [error, setError] = useState<unknown>();
    useEffect(() => {
      const draw = async (): Promise<void> => {
        loaded ??= await loadPart(load);
        setDrawn(() => loaded);
      };
      draw().catch(setError);
    }, []);
    if (Drawn !== undefined) return <Drawn {...props} />;
    if (error !== undefined) return <NotLoaded error={error} onClose={closeOf(props)} />;
    return meanwhile;
  };
}

/** What closes it, where it is a dialog. */
function closeOf(props: object): (() => void) | undefined {
  return 'onClose' in props ? (props.onClose as () => void) : undefined;
}

function NotLoaded({ error, onClose }: { error: unknown; onClose: (() => void) | undefined }) {
  return (
    <div className={onClose && 'not-opened'}>
      <ProblemBox error={error} isFocused />
      {onClose !== undefined && (
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
      )}
    </div>
  );
}
