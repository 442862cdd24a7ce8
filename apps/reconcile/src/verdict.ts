import type { Reconciliation } from './reconcile.ts';

/** The findings of each organization. */
export interface Verdict {
  /** How many problems, by organization; those without any are left out. */
  problems: Map<string, number>;
  /** Whether every problem is told of its organization. Of many of one kind only some are. */
  areAllKnown: boolean;
}

/** What is left wrong after a reconciliation, and whose it is. */
export function verdictOf({ events, rollups, billing, isCorrected }: Reconciliation): Verdict {
  const problems = new Map<string, number>();
  const add = ({ organizationId }: { organizationId: string }): void => {
    problems.set(organizationId, (problems.get(organizationId) ?? 0) + 1);
  };
  events.filter(({ difference }) => difference > 0 || (difference < 0 && !isCorrected)).forEach(add);
  rollups.differing.filter(({ isRebuilt }) => !isRebuilt).forEach(add);
  if (billing === undefined) return { problems, areAllKnown: true };
  const { months, dues, checks, invoices } = billing;
  months.filter(({ difference }) => difference !== 0).forEach(add);
  dues.examples.forEach(add);
  for (const { faults } of checks.broken) faults.forEach(add);
  const differing = new Map(invoices?.examples.map((invoice) => [invoice.invoiceId, invoice]));
  [...differing.values()].forEach(add);
  return {
    problems,
    areAllKnown:
      dues.miscounted <= dues.examples.length &&
      checks.broken.every(({ found, faults }) => found <= faults.length) &&
      (invoices?.differing ?? 0) <= differing.size,
  };
}
