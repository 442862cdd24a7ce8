import { type Step, readSteps } from './concurrent-indexes.ts';

/** A migration as its file says it. */
export interface Migration {
  sql: string;
  /** What is run outside of a transaction, if it is to be. */
  steps: Step[] | undefined;
  /** The number of the newest migration that a process has to know to run on this one; null where older ones may. */
  needs: string | null;
}

/** Lines at the top that the migrator reads. */
const INSTRUCTION = /^--! (.*)\n/;

/** Reads a migration. Throws for an instruction that there is not. */
export function readMigration(text: string): Migration {
  let isInTransaction = true;
  let needs: string | null = null;
  for (let rest = text; ;) {
    const [line = '', instruction] = INSTRUCTION.exec(rest) ?? [];
    if (instruction === undefined) break;
    const needed = /^needs (\d{4})$/.exec(instruction)?.[1];
    if (instruction === 'no-transaction') isInTransaction = false;
    else if (needed !== undefined) needs = needed;
    else throw new Error(`A migration cannot say "${line.trim()}": see packages/db/migrations/README.md`);
    rest = rest.slice(line.length);
  }
  return { sql: text, steps: isInTransaction ? undefined : readSteps(text), needs };
}
