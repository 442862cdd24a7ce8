import { Badge, Text } from '@mantine/core';
import type { Schema } from '../api/client.ts';
import { formatDecimal } from '../parts/decimals.ts';
import { Time } from '../parts/time.tsx';

const REASONS: Record<Schema<'Entitlement'>['reason'], string> = {
  ok: 'yes',
  no_subscription: 'no subscription',
  not_in_plan: 'not in the plan',
  disabled: 'off in the plan',
  limit_reached: 'limit reached',
};

/** What a customer may use, and how much of it is left. */
export function EntitlementTable({ entitlements }: { entitlements: readonly Schema<'Entitlement'>[] }) {
  if (entitlements.length === 0)
    return <Text c="dimmed">No feature: it comes with the plan of a subscription.</Text>;
  return (
    <div className="table-scroll">
      <table className="table" aria-label="Entitlements">
        <thead>
          <tr>
            <th scope="col">Feature</th>
            <th scope="col">May use it</th>
            <th scope="col" className="right">
              Used
            </th>
            <th scope="col" className="right">
              Limit
            </th>
            <th scope="col">Begins anew</th>
          </tr>
        </thead>
        <tbody>
          {entitlements.map((each) => (
            <tr key={each.feature}>
              <td>
                <code>{each.feature}</code>
              </td>
              <td>
                <Badge color={each.has_access ? 'green' : 'red'}>{REASONS[each.reason]}</Badge>
              </td>
              <td className="right number">{each.usage === null ? '' : formatDecimal(each.usage)}</td>
              <td className="right number">{limitOf(each)}</td>
              <td>{each.resets_at === null ? '' : <Time of={each.resets_at} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function limitOf({ type, limit, is_soft_limit, static_value }: Schema<'Entitlement'>): string {
  if (static_value !== null) return static_value;
  if (type !== 'meter') return '';
  if (limit === null) return 'unlimited';
  return `${formatDecimal(limit)}${is_soft_limit ? ' (soft)' : ''}`;
}
