/**
 * Measures up to three times, and returns the first measure that is as wanted, or else the last. A busy machine spoils one of
 * them, and a defect all three. What is measured has to be the same each time.
 */
export async function bestOfThree<Measure>(
  measure: () => Promise<Measure>,
  isAsWanted: (measure: Measure) => boolean,
): Promise<Measure> {
  let best = await measure();
  for (let tries = 1; tries < 3 && !isAsWanted(best); tries += 1) best = await measure();
  return best;
}
