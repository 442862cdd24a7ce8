import { withinMs } from './within.ts';

/** Whoever asks for health gives up soon: a part that takes longer is as good as away. */
export const PROBE_MS_MAX = 1_000;

/**
 * Returns a question that resolves, within a second, to whether a part answers. Those who ask at the same time share one
 * question, so that a crowd that watches cannot use up what is watched.
 */
export function buildProbe(ask: () => Promise<unknown>): () => Promise<boolean> {
  let underWay: Promise<boolean> | undefined;
  return () =>
    (underWay ??= withinMs(PROBE_MS_MAX, ask())
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        underWay = undefined;
      }));
}
