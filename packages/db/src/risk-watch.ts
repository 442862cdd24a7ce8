import type { Logger } from '@weir/shared/log';
import type { Database } from './database.ts';
import { findRisks } from './installation.ts';

/** A standby is taken out while all runs, by Patroni as well as by hand, and nobody starts Weir anew for that. */
const INTERVAL_MS = 2_000;

export interface RiskWatch {
  close(): void;
}

/**
 * Looks every other second whether the settings of Postgres let it lose commits (installation.ts), and says so in the log when that changes.
 * While Postgres does not answer, nothing is known to have changed. `onLook`: told at each look whether nothing is at risk.
 */
export function openRiskWatch(
  database: Database,
  copies: number,
  log: Pick<Logger, 'info' | 'warn'>,
  onLook: (isSafe: boolean) => void,
): RiskWatch {
  let known: readonly string[] = [];
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      const risks = await findRisks(database, copies);
      for (const risk of risks) if (!known.includes(risk)) log.warn(risk);
      if (risks.length === 0 && known.length > 0)
        log.info('Postgres has what it commits on as many disks as it should have again');
      known = risks;
      onLook(risks.length === 0);
    } catch {
      // Those who ask Postgres for more say what is wrong with it.
    } finally {
      isLooking = false;
    }
  };
  void look();
  const timer = setInterval(() => void look(), INTERVAL_MS);
  return { close: () => clearInterval(timer) };
}
