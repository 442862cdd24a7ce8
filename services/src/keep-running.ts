import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from './server.ts';

/** What makes a server end may last (a full disk, too little memory), and a start takes a second of a core. */
const PAUSE_MS = 1_000;

/** A server that is started again whenever it ends by itself. */
export interface KeptServer {
  /** Ends it for good; nothing of it is left when this resolves. */
  stop(): Promise<void>;
}

/**
 * Starts a server, and starts it again a second after it ended by itself, for ever, with a line in the log. Rejects when
 * the first start fails.
 */
export async function keepRunning(
  name: string,
  start: () => Promise<Server>,
  log: (line: string) => void,
): Promise<KeptServer> {
  const stopping = new AbortController();
  let server: Server | undefined = await start();

  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if (server !== undefined) {
        const how = await server.ended;
        if (stopping.signal.aborted) return;
        log(`${name} ended by itself (${how}); starting it again.`);
      }
      await delay(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      server = await start().catch((error: unknown) => {
        log(error instanceof Error ? error.message : String(error));
        return undefined;
      });
    }
  };
  const watching = watch();

  return {
    stop: async () => {
      stopping.abort();
      await server?.stop();
      await watching;
      // A start that was under way may have succeeded meanwhile.
      await server?.stop();
    },
  };
}
