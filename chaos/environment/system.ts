import type { Receiver } from './receiver.ts';

/** One start of a process. */
export interface ProcessRecord {
  name: string;
  logPath: string;
  /**
   * Undefined while it runs. `expected`: the suite has ended it; else it ended by itself. `isHung`: it did not end when it was told to,
   * and was killed.
   */
  ended?: { code: number | null; signal: string | null; expected: boolean; isHung?: boolean };
}

/** The stack under test, as the clients and the judge see it. */
export interface SystemUnderTest {
  /** The API processes, each behind the proxy on the edge `client>api-N`; the address stays through restarts. */
  apis: { name: string; url: string }[];
  /** Of webhooks; none where processes are on machines of their own, from which they are not reached. */
  receivers: readonly Receiver[];
  /** Past every proxy, for the judge. */
  databaseUrl: string;
  redisUrl: string;
  queuePrefix: string;
  /** Every start of every process, with its log file and how it ended. */
  processes: ProcessRecord[];
  /** The folder of this run: history, logs, data. */
  folder: string;
}
