// The steps of docs/operations.md for a restore, and a database that is restored from a backup of a test.

import type pg from 'pg';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect } from 'vitest';
import { copyDatabase } from './copy-database.ts';
import type { TestDatabase } from './setup/database.ts';
import type { Weir } from './harness.ts';
import { runToEnd } from './run-to-end.ts';
import { openTestDatabase } from './test-database.ts';
import { weirOfEachTest } from './use-weir.ts';

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const [, section = ''] = /^### Restore or move Postgres\n([^]*?)^### /m.exec(page) ?? [];
/** By their numbers. */
export const steps = section.split(/^(?=\d+\. )/m);
export const sqlOf = (step: number): string[] =>
  [...(steps[step] ?? '').matchAll(/```sql\n([^]*?)```/g)].map(([, text = '']) => text);
/** The settings that a step names, with their values. */
export const settingsOf = (step: number): Record<string, string> =>
  Object.fromEntries([...(steps[step] ?? '').matchAll(/`([A-Z_]+)=(\w+)`/g)].map(([, name, value]) => [name, value]));

/** The id that the page has in place of those of its reader. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

export interface Restore {
  weir: Weir;
  /** Takes the backup that is restored later, and returns the settings of processes that run on it then. */
  backUp(): Promise<Record<string, string>>;
  /** Does something with a connection to the restored database. */
  inRestored<Result>(work: (pool: pg.Pool) => Promise<Result>): Promise<Result>;
  takeOver(env: Record<string, string>): Promise<void>;
}

/** A new Weir for each test, and a database that is restored beside it. To be called once in a file. */
export function restoreOfEachTest(settings: Record<string, string>): Restore {
  let restored: TestDatabase | undefined;
  // Once nothing runs on it any more: what is said first comes last.
  afterEach(async () => {
    await restored?.drop();
    restored = undefined;
  });
  const weir = weirOfEachTest({ api: settings, withWorker: false });
  beforeEach(() => {
    // A copy cuts off whoever is connected.
    weir.pool.on('error', () => {});
  });
  return {
    weir,
    async backUp() {
      restored = await copyDatabase(weir.databaseUrl);
      return { ...settings, DATABASE_URL: restored.url };
    },
    async inRestored(work) {
      const database = openTestDatabase({ databaseUrl: restored?.url ?? '' });
      try {
        return await work(database.pool);
      } finally {
        await database.close();
      }
    },
    async takeOver(env) {
      expect(await runToEnd('apps/reconcile/dist/take-over-main.js', { ...weir.env, ...env })).toMatchObject({
        code: 0,
      });
    },
  };
}
