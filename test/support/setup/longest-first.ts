import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const tests = fileURLToPath(new URL('../..', import.meta.url));

/** What takes longest, so that it begins first: the last file to end should be a short one. */
const LONGEST = [
  'operations/chaos',
  'hostile/hostile-endpoints',
  'console/pages',
  'console/interrupted',
  'console/answers',
  'catalog/openapi-fuzz',
  'operations/operations',
  'console/in-full',
  'console/by-hand',
  'billing/plans-of-billing',
  'operations/logs',
  'console/journey',
  'console/two-admins',
  'billing/billing-model',
  'ingest/exactly-once',
  'billing/plans-of-auditing',
  'operations/move-usage',
  'operations/fences',
  'hostile/slow-sockets',
  'operations/python-client',
  'billing/closing',
  'operations/services',
  'operations/restore',
  'access/login-throttling',
  'operations/reconcile',
  'billing/invoice-invariants',
  'ingest/direct-way',
  'usage/plans-of-reads',
  'ingest/redis-pressure',
  'billing/due-usage',
  'billing/plans-of-the-run',
  'billing/recompute',
  'billing/plans-of-looks',
  'operations/import',
];

/** The longest first, then the other tests of the whole; those beside pure code take moments, and fill the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = LONGEST.filter((name) => !existsSync(`${tests}${name}.test.ts`));
    if (gone.length > 0) throw new Error(`longest-first.ts names tests that there are not: ${gone.join(', ')}`);
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ project, moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  if (place !== -1) return place;
  return LONGEST.length + (project.name === 'unit' ? 1 : 0);
}
