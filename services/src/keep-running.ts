import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from './server.ts';

const second = 1000;

/** A server that is started again whenever it ends by itself. */
export interface KeptServer {
  /** Ends it for good; nothing of it is left when this resolves. */
  stop(): Promise<void>;
}

/**
 * Starts a server and, whenever it ends by itself, starts it again, with a line in the log: at first at once, then
 * after pauses that grow to half a minute, for ever. What made it end (a full disk, too little memory) may pass, and
 * its users can wait for it. Rejects when the first start fails.
 */
export async function keepRunning(
  name: string,
  start: () => Promise<Server>,
  log: (line: string) => void,
): Promise<KeptServer> {
  const closing = new AbortController();
  let server = await start();

  const startAgain = async (ends: number[]): Promise<void> => {
    while (!closing.signal.aborted) {
      ends.push(Date.now());
      const pause = pauseAfter(ends, Date.now());
      if (pause > 0) log(`${name} starts again in ${pause / second} s.`);
      await delay(pause, undefined, { signal: closing.signal }).catch(() => {});
      if (closing.signal.aborted) return;
      try {
        server = await start();
        return;
      } catch (error) {
        log(error instanceof Error ? error.message : String(error));
      }
    }
  };
  const watch = async (): Promise<void> => {
    const ends: number[] = [];
    while (!closing.signal.aborted) {
      const how = await server.ended;
      if (closing.signal.aborted) return;
      log(`${name} ended by itself (${how}); starting it again.`);
      await startAgain(ends);
    }
  };
  const watching = watch();

  return {
    stop: async () => {
      closing.abort();
      await server.stop();
      await watching;
      // A start that was under way may have succeeded meanwhile.
      await server.stop();
    },
  };
}

/**
 * Milliseconds to wait before the next start: more with every end within the last two minutes, the present one
 * included.
 */
export function pauseAfter(ends: number[], now: number): number {
  const recent = ends.filter((end) => end > now - 120 * second).length;
  return recent <= 1 ? 0 : Math.min(2 ** (recent - 2), 30) * second;
}
