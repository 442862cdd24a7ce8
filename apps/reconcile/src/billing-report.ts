// The report of billing, for a person and for a program.

import { UNBILLED_REASONS, type BillingFate } from '@weir/db/billing/checks/billed-events';
import { tableOf } from '@weir/db/months-taken-out';
import type { BillingBalance, BillingMonth } from './billing-balance.ts';
import type { ComputedAgain } from './computed-again.ts';
import type { ReconcileOptions } from './reconcile-options.ts';
import { number, plural } from './words.ts';

/** A line for each month, of one organization for each meter, and what does not hold, one by one. */
export function describeBilling(balance: BillingBalance, { organizationId }: ReconcileOptions): string[] {
  return [
    "Billing, by month of the events' own time: recorded = billed + late + open + unbilled",
    ...describeMonths(balance.months, organizationId !== undefined),
    ...describeDues(balance.dues),
    ...describeChecks(balance.checks),
    ...(balance.invoices === undefined ? [] : describeInvoices(balance.invoices)),
  ];
}

function describeMonths(months: readonly BillingMonth[], byMeter: boolean): string[] {
  if (months.length === 0) return ['  none'];
  const groupOf = ({ month, meterId }: BillingMonth) => (byMeter ? `${month}  meter ${meterId}` : month);
  const lines = [...new Set(months.map(groupOf))].toSorted().map((group) => {
    const rows = months.filter((row) => groupOf(row) === group);
    const total = (of: (row: BillingMonth) => number) => rows.reduce((sum, row) => sum + of(row), 0);
    const fate = (name: BillingFate) => total(({ fates }) => fates[name]);
    const reasons = UNBILLED_REASONS.map((name) => ({ name, events: fate(name) })).filter(({ events }) => events > 0);
    const unbilled = reasons.reduce((sum, { events }) => sum + events, 0);
    const differing = rows.filter(({ difference }) => difference !== 0).length;
    const parts = [fate('billed'), fate('late'), fate('open'), unbilled].map(number).join(' + ');
    const told = [
      ...(byMeter ? [] : [plural(rows.length, 'meter')]),
      differing === 0 ? 'equal' : byMeter ? 'not equal' : `${differing} of them not equal`,
      ...reasons.map(({ name, events }) => `${number(events)} ${name.replaceAll('_', ' ')}`),
    ];
    return `  ${group}  ${number(total(({ recorded }) => recorded))} ${differing === 0 ? '=' : '≠'} ${parts}  (${told.join(', ')})`;
  });
  for (const { organizationId, month, meterId, difference, unexplained } of months) {
    if (difference === 0) continue;
    lines.push(
      `  organization ${organizationId}, ${month}, meter ${meterId}: ${plural(difference, 'event')} UNEXPLAINED, in no due and with ` +
        `no reason for it, such as ${unexplained ?? 'none'}.`,
    );
  }
  return lines;
}

function describeDues({ compared, miscounted, examples }: BillingBalance['dues']): string[] {
  const sign = miscounted === 0 ? 'all equal' : `${number(miscounted)} not equal`;
  const lines = [`  ${plural(compared, 'closed due')} compared with the events: ${sign}`];
  for (const due of examples) {
    const { organizationId, subscriptionId, cycle, chargeId, invoiceId, billedEvents, billedQuantity } = due;
    const found = due.quantity === null ? '' : ` with ${due.quantity} in all`;
    lines.push(
      `  organization ${organizationId}, subscription ${subscriptionId}, cycle ${cycle} of charge ${chargeId}: invoice ${invoiceId} ` +
        `bills ${plural(billedEvents, 'event')} with ${billedQuantity} in all, and there are ${number(due.events)}${found}.`,
    );
  }
  return lines;
}

function describeChecks({ made, broken }: BillingBalance['checks']): string[] {
  const sign = broken.length === 0 ? 'all hold' : `${broken.length} BROKEN`;
  const lines = [`  ${plural(made, 'promise')} about subscriptions, dues, invoices and credits: ${sign}`];
  for (const { name, promise, found, faults } of broken) {
    lines.push(`  ${name}, ${number(found)} times not so: ${promise}`);
    for (const { organizationId, subject, said } of faults) {
      lines.push(`    organization ${organizationId}, ${subject}: ${said}`);
    }
    if (found > faults.length) lines.push(`    and ${number(found - faults.length)} more`);
  }
  return lines;
}

function describeInvoices({ from, computed, differing, examples, takenOut, monthsToAttach }: ComputedAgain): string[] {
  const sign = differing === 0 ? 'all identical' : `${number(differing)} NOT identical`;
  const lines = [`  ${plural(computed, 'invoice')} computed again, from ${from.join(' and ')}: ${sign}`];
  if (takenOut > 0) {
    const [need, are] = takenOut === 1 ? ['needs', 'is'] : ['need', 'are'];
    const tables = monthsToAttach.map(tableOf).join(', ');
    lines.push(
      `  ${plural(takenOut, 'invoice')} ${need} a month that was taken out, and ${are} not computed: attach ${tables}`,
    );
  }
  for (const { organizationId, invoiceId, invoiceNumber, from, said } of examples) {
    const name = invoiceNumber === null ? '' : ` (${invoiceNumber})`;
    lines.push(`  organization ${organizationId}, invoice ${invoiceId}${name}, from ${from}: ${said}`);
  }
  return lines;
}

/** The same, with every organization, meter and month. */
export function billingJson({ months, dues, checks, invoices }: BillingBalance): unknown {
  return {
    events: months.map(({ organizationId, meterId, month, recorded, fates, difference, unexplained }) => ({
      organization_id: organizationId,
      meter_id: meterId,
      month,
      recorded,
      ...fates,
      difference,
      unexplained,
    })),
    dues: {
      compared: dues.compared,
      miscounted: dues.miscounted,
      examples: dues.examples.map((due) => ({
        organization_id: due.organizationId,
        subscription_id: due.subscriptionId,
        cycle: due.cycle,
        charge_id: due.chargeId,
        invoice_id: due.invoiceId,
        billed_events: due.billedEvents,
        billed_quantity: due.billedQuantity,
        events: due.events,
        quantity: due.quantity,
      })),
    },
    checks: {
      made: checks.made,
      broken: checks.broken.map(({ name, promise, found, faults }) => ({
        name,
        promise,
        found,
        faults: faults.map(({ organizationId, subject, said }) => ({ organization_id: organizationId, subject, said })),
      })),
    },
    ...(invoices !== undefined && {
      invoices: {
        from: invoices.from,
        computed: invoices.computed,
        differing: invoices.differing,
        taken_out: invoices.takenOut,
        months_to_attach: invoices.monthsToAttach,
        examples: invoices.examples.map(({ organizationId, invoiceId, invoiceNumber, from, said }) => ({
          organization_id: organizationId,
          invoice_id: invoiceId,
          invoice_number: invoiceNumber,
          from,
          said,
        })),
      },
    }),
  };
}
