import { isPortFree } from '@weir/services/connection';
import { randomInt } from 'node:crypto';

/**
 * Below what systems give to outgoing connections, so that none of these can take the port of a process while that is
 * started again.
 */
const FIRST = 20_000;
const LAST = 32_000;

/** So many different ports of 127.0.0.1 that nothing listened on a moment ago. */
export async function pickPorts(count: number): Promise<number[]> {
  const picked = new Set<number>();
  for (let tries = 0; picked.size < count; tries += 1) {
    if (tries > 1_000) throw new Error(`No ${count} free ports were found between ${FIRST} and ${LAST}.`);
    const port = randomInt(FIRST, LAST + 1);
    if (!picked.has(port) && (await isPortFree(port))) picked.add(port);
  }
  return [...picked];
}
