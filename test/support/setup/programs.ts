import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { hasTestsOfTheWhole } from './tests-of-the-whole.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Builds the programs that tests start, so that they are those of production, and of the sources as they stand. To compile them
 * at each start takes three times as long as to start them.
 */
export default async function setup(project: TestProject): Promise<void> {
  if (!hasTestsOfTheWhole(project)) return;
  const programs = ['apps/api', 'apps/worker', 'apps/import', 'apps/reconcile', 'apps/admin', 'services', 'chaos'];
  await promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-b', ...programs], {
    cwd: root,
  }).catch(({ stdout, message }: { stdout?: string; message: string }) => {
    throw new Error(stdout || message);
  });
}
