import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, so that it begins first: the last file to end should be a short one. */
const LONGEST = [
  'operations/chaos',
  'hostile/hostile-endpoints',
  'console/pages',
  'console/interrupted',
  'catalog/openapi-fuzz',
  'operations/operations',
  'operations/reconcile',
  'billing/plans-of-auditing',
  'hostile/slow-sockets',
  'console/journey',
  'operations/reconcile-rollups',
  'ingest/redis-pressure',
  'billing/invoice-invariants',
  'operations/python-client',
  'access/login-throttling',
  'billing/plans-of-billing',
  'billing/billing-model',
  'operations/logs',
  'console/answers',
  'operations/fences',
  'ingest/exactly-once',
  'operations/move-usage',
  'console/by-hand',
  'billing/plans-of-looks',
  'billing/late-usage',
  'usage/plans-of-reads',
  'operations/services',
  'ingest/overload',
  'operations/pooler',
  'catalog/openapi-lint',
];

/** The longest first, then the other tests of the whole; those beside pure code take moments, and fill the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ project, moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  if (place !== -1) return place;
  return LONGEST.length + (project.name === 'unit' ? 1 : 0);
}
