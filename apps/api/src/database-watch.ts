// Asks Postgres every second whether it is there, so that what needs it is refused at once while it is not, instead of every
// request finding out by itself, each after a time-out of its own.

import { pingDatabase, type Database } from '@weir/db/database';
import type { FastifyBaseLogger } from 'fastify';

const INTERVAL_MS = 1_000;

/** A Postgres that takes longer for nothing at all is as good as away. */
const ANSWER_MS_MAX = 1_500;

export interface DatabaseWatch {
  /** Whether Postgres was away when it was last asked. */
  isAway(): boolean;
  close(): void;
}

export function openDatabaseWatch(database: Database, log: FastifyBaseLogger): DatabaseWatch {
  let isAway = false;
  let isAsking = false;
  const settle = (away: boolean, error?: unknown) => {
    if (away === isAway) return;
    isAway = away;
    if (away) log.warn({ err: error }, 'Postgres does not answer: reading and admin requests are refused');
    else log.info('Postgres answers again');
  };
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    const timer = setTimeout(
      () => settle(true, new Error(`Postgres did not answer within ${ANSWER_MS_MAX} ms`)),
      ANSWER_MS_MAX,
    );
    try {
      await pingDatabase(database);
      settle(false);
    } catch (error) {
      settle(true, error);
    } finally {
      clearTimeout(timer);
      isAsking = false;
    }
  };
  const timer = setInterval(() => void ask(), INTERVAL_MS);
  return {
    isAway: () => isAway,
    close: () => clearInterval(timer),
  };
}
