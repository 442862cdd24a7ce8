import type { Logger } from '@weir/shared/log';
import { readClockOffset } from './clock-offset.ts';
import { StandbyAway, type Database } from './database.ts';
import { findRisks } from './installation.ts';
import { countStalledSessions } from './standby.ts';

/** A standby is taken out while all runs, by Patroni as well as by hand, and nobody starts Weir anew for that. */
const INTERVAL_MS = 2_000;

/** Months, erasures and drafts allow for clocks 10 s apart: this is told long before, and is no difference that NTP leaves. */
const CLOCK_SECONDS_MAX = 2;

/** Where the clocks are told to agree again, so that a difference about as large as that is told once. */
const CLOCK_SECONDS_AGREED = 1;

/** What was seen of the server of Postgres. NaN: it did not answer, and nobody knows. */
export interface ServerState {
  /** Whether its settings let it lose no commit (installation.ts). */
  isSafe: boolean;
  /** How many sessions of Weir have waited for the synchronous standby for over a second. */
  stalledSessions: number;
  /** By how many seconds the clock of this process is at least ahead of its clock. */
  clockOffsetSeconds: number;
}

/** Makes the metrics that an API and a worker show of a {@link ServerState}, and returns what sets them. */
export function serverGauges(
  gauge: (name: string, help: string) => { set(value: number): void },
): (state: ServerState) => void {
  const isSafe = gauge(
    'weir_database_synced',
    '1 while the settings of Postgres say that a commit is on disk, and with DATABASE_COPIES=2 on that of a standby; else 0.',
  );
  const stalledSessions = gauge(
    'weir_standby_waiting_sessions',
    'Sessions of Weir in Postgres, of all processes, that have waited for the synchronous standby for over a second.',
  );
  const clockOffsetSeconds = gauge(
    'weir_clock_offset_seconds',
    'By how much the clock of this process is at least ahead of that of Postgres; negative where it is behind.',
  );
  const show = (state: ServerState): void => {
    isSafe.set(Number(state.isSafe));
    stalledSessions.set(state.stalledSessions);
    clockOffsetSeconds.set(state.clockOffsetSeconds);
  };
  // It begins as what it is meant to be, until Postgres is seen.
  show({ isSafe: true, stalledSessions: NaN, clockOffsetSeconds: NaN });
  return show;
}

export interface ServerWatch {
  close(): void;
}

/**
 * Looks every other second at what makes Postgres lose commits, hold them up, or have another time, and says so in the log when that
 * changes. `onLook`: told at each look what was seen.
 */
export function openServerWatch(
  database: Database,
  copies: number,
  log: Pick<Logger, 'info' | 'warn'>,
  onLook: (state: ServerState) => void,
  intervalMs: number = INTERVAL_MS,
): ServerWatch {
  let known: readonly string[] = [];
  let stalledBefore = 0;
  let isClockOff = false;
  let isLooking = false;

  const seeRisks = (risks: readonly string[]) => {
    for (const risk of risks) if (!known.includes(risk)) log.warn(risk);
    if (risks.length === 0 && known.length > 0)
      log.info('Postgres has what it commits on as many disks as it should have again');
    known = risks;
  };
  const seeStalled = (sessions: number) => {
    // One may just have waited for a standby that is slow.
    if (sessions > 0 && stalledBefore > 0)
      log.warn({ err: new StandbyAway(), sessions }, 'sessions wait for it, and stay in Postgres until it is back');
    if (sessions === 0) log.info({ back: 'the standby' }, 'the standby answers again');
    stalledBefore = sessions;
  };
  const seeClock = (seconds: number) => {
    const wasOff = isClockOff;
    isClockOff = Math.abs(seconds) > (wasOff ? CLOCK_SECONDS_AGREED : CLOCK_SECONDS_MAX);
    if (isClockOff && !wasOff)
      log.warn(
        { seconds },
        'the clocks of this machine and of Postgres differ: have both set by NTP, since months of events, erasures and drafts hang on them',
      );
    if (wasOff && !isClockOff) log.info({ seconds }, 'the clocks of this machine and of Postgres agree again');
  };
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      // One after the other: it takes no connection away from those who record.
      const risks = await findRisks(database, copies);
      const stalledSessions = await countStalledSessions(database);
      const clockOffsetSeconds = await readClockOffset(database);
      seeRisks(risks);
      seeStalled(stalledSessions);
      seeClock(clockOffsetSeconds);
      onLook({ isSafe: risks.length === 0, stalledSessions, clockOffsetSeconds });
    } catch {
      // Those who ask Postgres for more say what is wrong with it. Its settings are not known to have changed.
      onLook({ isSafe: known.length === 0, stalledSessions: NaN, clockOffsetSeconds: NaN });
    } finally {
      isLooking = false;
    }
  };
  void look();
  const timer = setInterval(() => void look(), intervalMs);
  return { close: () => clearInterval(timer) };
}
