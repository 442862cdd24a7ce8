import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds from when a request was due to its whole answer, of so many requests a second. Throws what a request throws. */
export async function askAtRate(
  ask: (n: number) => Promise<unknown>,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number[]> {
  const begin = performance.now();
  const asked: Promise<number>[] = [];
  for (let n = 0; n < perSecond * seconds; n += 1) {
    const due = begin + (n * 1_000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await delay(early);
    asked.push(ask(n).then(() => performance.now() - due));
  }
  return await Promise.all(asked);
}
