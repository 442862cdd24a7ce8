import type { ReactNode } from 'react';

interface ChangedIdProps {
  /** The id that services know it by. Undefined: it is new, and nobody knows it. */
  before: string | undefined;
  typed: string;
  /** What ends with the change. */
  children: ReactNode;
}

/** Says what ends once an id that services send is saved as another one: they are not changed with it. */
export function ChangedId({ before, typed, children }: ChangedIdProps) {
  if (before === undefined || typed === before || typed.trim() === before) return null;
  return (
    <p className="changed-id" role="status">
      {children}
    </p>
  );
}
