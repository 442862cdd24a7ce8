// The price of a charge where it is shown in full: a sentence; where it has tiers, a table of them.

import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { formatAmount } from '../text/decimals.ts';
import type { ChargeTerms } from './charge-models.ts';
import { describeCharge, describeWithoutTiers, hasAmount, tiersOf, tierWords, type Tier } from './charge-words.ts';
import './charge-price.css';

interface ChargePriceProps {
  charge: ChargeTerms;
  currency: string;
  interval: string;
  /** Names the table. */
  name: string;
  /** Said beside the price: when it holds. */
  note?: string | undefined;
}

export function ChargePrice({ charge, currency, interval, name, note }: ChargePriceProps) {
  const tiers = tiersOf(charge);
  return (
    <>
      {tiers.length === 0 ? describeCharge(charge, currency, interval) : describeWithoutTiers(charge, currency)}{' '}
      <span className="muted">{note}</span>
      <Tiers tiers={tiers} currency={currency} name={name} />
    </>
  );
}

/** As many as are seen at a glance. A price may have a hundred. */
const SHOWN = 5;

interface Row {
  key: string;
  /** Which part of the quantity it is of. */
  units: string;
  tier: Tier;
}

/** A row for each tier; nothing of a price without tiers. */
export function Tiers({ tiers, currency, name }: { tiers: readonly Tier[]; currency: string; name: string }) {
  if (tiers.length === 0) return null;
  const rows = tiers.map((tier, index): Row => {
    const from = tiers[index - 1]?.up_to ?? null;
    return { key: tier.up_to ?? 'last', units: tierWords(from, tier.up_to), tier };
  });
  const columns: Column<Row>[] = [
    { title: 'Units', cell: ({ units }) => units },
    { title: 'Price of a unit', cell: ({ tier }) => formatAmount(tier.unit_price, currency), isNumber: true },
    ...(tiers.some(({ flat_fee: fee }) => hasAmount(fee))
      ? [
          {
            title: 'Flat fee',
            cell: ({ tier }: Row) => (hasAmount(tier.flat_fee) ? formatAmount(tier.flat_fee, currency) : '–'),
            isNumber: true,
          },
        ]
      : []),
  ];
  const table = (label: string, part: readonly Row[]) => (
    <DataTable label={label} columns={columns} rows={part} keyOf={({ key }) => key} empty={null} />
  );
  // Nobody opens something for a single row.
  const first = rows.length > SHOWN + 1 ? SHOWN : rows.length;
  return (
    <div className="tiers">
      {table(`Tiers of ${name}`, rows.slice(0, first))}
      {first < rows.length && (
        <details className="tiers-rest">
          <summary>And {rows.length - first} more tiers</summary>
          {table(`More tiers of ${name}`, rows.slice(first))}
        </details>
      )}
    </div>
  );
}
