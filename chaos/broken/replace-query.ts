// For the broken builds that change what is asked of Postgres.

import pg from 'pg';

type Query = (config: unknown, ...rest: unknown[]) => unknown;

const query = Reflect.get(pg.Client.prototype, 'query') as Query;

/** Has `change` say which text is sent in place of a statement's own; undefined: its own. */
export function replaceQueries(change: (text: string, name: string | undefined) => string | undefined): void {
  Reflect.set(pg.Client.prototype, 'query', function (this: pg.Client, config: unknown, ...rest: unknown[]): unknown {
    if (typeof config === 'string') return query.call(this, change(config, undefined) ?? config, ...rest);
    if (typeof config !== 'object' || config === null || !('text' in config)) return query.call(this, config, ...rest);
    const { text, name } = config as { text: string; name?: string };
    const changed = change(text, name);
    return query.call(this, changed === undefined ? config : { ...config, text: changed }, ...rest);
  });
}
