import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

const tests = fileURLToPath(new URL('../..', import.meta.url));

/** Whether any of the tests that are run is one of `test`: those beside the code need neither programs nor services. */
export function hasTestsOfTheWhole({ vitest }: TestProject): boolean {
  return vitest.state.getPaths().some((path) => path.startsWith(tests));
}
