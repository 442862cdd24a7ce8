import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const tests = fileURLToPath(new URL('../..', import.meta.url));

/**
 * What takes longest, so that it begins first: the last file to end should be a short one. Those that mostly wait, for a lock, a replica
 * or an interval, stand between those that compute: of what runs at once about one should wait.
 */
const LONGEST = [
  'operations/chaos',
  'ingest/second-copy',
  'console/interrupted',
  'operations/outages',
  'console/pages',
  'usage/corrections-of-values',
  'operations/standby',
  'operations/services',
  'operations/operations',
  'console/answers',
  'operations/migrate',
  'hostile/hostile-endpoints',
  'console/in-full',
  'hostile/slow-sockets',
  'billing/plans-of-auditing',
  'billing/webhook-turns',
  'operations/restore-invoices',
  'console/as-billed',
  'ingest/redis-pressure',
  'catalog/openapi-fuzz',
  'console/seen-first',
  'ingest/exactly-once',
  'catalog/guides',
  'console/two-admins',
  'billing/alerts-proof',
  'console/by-hand',
  'ingest/direct-way',
  'operations/fences',
  'console/journey',
  'operations/dependencies-gone',
  'billing/unbilled-usage',
  'console/kept',
  'operations/reconcile',
  'billing/due-usage',
  'billing/billing-model',
  'ingest/replaced-redis',
  'operations/erasing-grouped',
  'operations/start',
  'operations/logs',
  'ingest/overload',
  'operations/import',
  'billing/plans-of-the-run',
  'operations/reconcile-rollups',
  'operations/move-usage',
  'operations/sdk-package',
  'console/typed',
  'operations/readiness',
  'billing/invoice-invariants',
  'operations/postgres-settings',
  'hostile/hostile-http',
  'access/login-throttling',
  'billing/recompute',
  'ingest/rate-limits',
  'catalog/plans-of-lists',
  'operations/restore',
  'operations/python-client',
  'billing/plans-of-billing',
  'billing/never-paid',
  'usage/widget-page',
  'billing/entitlements',
];

/**
 * What stands beside the code begins: some of it fakes timers, which a Weir that files share in the same process would miss. Then come
 * the longest of the tests of the whole, then their others.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = LONGEST.filter((name) => !existsSync(`${tests}${name}.test.ts`));
    if (gone.length > 0) throw new Error(`longest-first.ts names tests that there are not: ${gone.join(', ')}`);
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  if (!moduleId.startsWith(tests)) return -1;
  const place = LONGEST.findIndex((name) => moduleId === `${tests}${name}.test.ts`);
  return place === -1 ? LONGEST.length : place;
}
