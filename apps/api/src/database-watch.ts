// Asks Postgres every second whether it is there, so that what needs it is refused at once while it is silent, instead of
// every request finding out by itself, each after a time-out of its own.

import { pingDatabase, type Database } from '@weir/db/database';
import type { FastifyBaseLogger } from 'fastify';

const INTERVAL_MS = 1_000;

/**
 * One question may go unanswered because its connection died, or because this machine was busy for a moment. When all have
 * for this long, it is Postgres.
 */
const AWAY_AFTER_MS = 3_000;

export interface DatabaseWatch {
  /** The last error of a Postgres that has not answered for a while; undefined while it answers. */
  away(): unknown;
  close(): void;
}

export function openDatabaseWatch(database: Database, log: FastifyBaseLogger): DatabaseWatch {
  let answeredAt = performance.now();
  let away: unknown;
  let isAsking = false;
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    try {
      await pingDatabase(database);
      answeredAt = performance.now();
      log.info({ back: 'Postgres' }, 'Postgres answers again');
      away = undefined;
    } catch (error) {
      if (performance.now() - answeredAt <= AWAY_AFTER_MS) return;
      if (away === undefined)
        log.warn({ err: error }, 'Postgres does not answer: reading and admin requests are refused');
      away = error;
    } finally {
      isAsking = false;
    }
  };
  const timer = setInterval(() => void ask(), INTERVAL_MS);
  return {
    away: () => away,
    close: () => clearInterval(timer),
  };
}
