import type { Schema } from '../api/client.ts';
import type { Column } from '../components/lists/data-table.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { RowsByPage } from '../components/lists/rows-by-page.tsx';
import { Time } from '../components/page/time.tsx';

type Entitlement = Schema<'Entitlement'>;

const REASONS: Record<Entitlement['reason'], string> = {
  ok: 'yes',
  no_subscription: 'no subscription',
  not_in_plan: 'not in the plan',
  disabled: 'off in the plan',
  limit_reached: 'limit reached',
};

const columnsIn = (zone: string): Column<Entitlement>[] => [
  { title: 'Feature', cell: ({ feature }) => <code>{feature}</code> },
  {
    title: 'May use it',
    cell: ({ has_access, reason }) => (
      <span className={`status ${has_access ? 'status-good' : 'status-bad'}`}>{REASONS[reason]}</span>
    ),
  },
  { title: 'Used', cell: ({ usage }) => (usage === null ? '' : formatDecimal(usage)), isNumber: true },
  { title: 'Limit', cell: limitOf, isNumber: true },
  {
    title: 'Begins anew',
    cell: ({ resets_at, type }) =>
      resets_at === null ? type === 'meter' && 'never' : <Time at={resets_at} zone={zone} />,
    isExtra: true,
  },
];

interface EntitlementTableProps {
  entitlements: readonly Entitlement[];
  /** That of the subscription, at whose boundaries usage begins anew. */
  zone: string;
}

/** Shows the features that a customer may use, and how much of each is left. */
export function EntitlementTable({ entitlements, zone }: EntitlementTableProps) {
  return (
    <RowsByPage
      label="Entitlements"
      columns={columnsIn(zone)}
      rows={entitlements}
      keyOf={({ feature }) => feature}
      empty="No feature: they come with the plan of a subscription."
    />
  );
}

function limitOf({ type, limit, is_soft_limit, static_value }: Entitlement): string {
  if (static_value !== null) return static_value;
  if (type !== 'meter') return '';
  if (limit === null) return 'unlimited';
  return `${formatDecimal(limit)}${is_soft_limit ? ' (soft)' : ''}`;
}
