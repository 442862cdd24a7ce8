import type { ReactNode } from 'react';

export type Fact = readonly [name: string, value: ReactNode];

/** What is known of a thing, name by value. What is false, null or empty is left out. */
export function Facts({ of }: { of: readonly Fact[] }) {
  return (
    <dl className="facts">
      {of
        .filter(([, value]) => value !== null && value !== false && value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
