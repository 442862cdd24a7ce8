// Shows what 0, 1, 1,000 and 1,000,000 units cost, and a quantity of one's own, while the price is being typed.

import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQueries } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { client, send } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { NO_FIELD } from '../components/forms/form.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { countParts, formatAmount, formatDecimal } from '../text/decimals.ts';
import { plainDecimal } from '../text/typed-text.ts';
import { type ChargeDraft, isPriced, termsOf } from './charge-draft.ts';

const QUANTITIES = ['0', '1', '1000', '1000000'];

/** Long enough to let a number be typed, short enough to feel at once. */
const DEBOUNCE_MS = 150;

interface Cost {
  quantity: string;
  amount: string | undefined;
  exactAmount: string | undefined;
  error: unknown;
  retry: () => unknown;
}

/** Returns what a charge comes to for these quantities. */
export function useCosts(draft: ChargeDraft, currency: string, quantities: readonly string[], perEvent = '1'): Cost[] {
  const [charge] = useDebouncedValue(
    useMemo(() => termsOf(draft), [draft]),
    DEBOUNCE_MS,
  );
  const tried = useQueries({
    queries: quantities.map((quantity) => ({
      queryKey: ['charges/evaluate', currency, charge, quantity, perEvent],
      enabled: isPriced(draft),
      retry: false,
      staleTime: Infinity,
      queryFn: () => {
        const body = { currency, charge, quantity, event_count: eventsOf(quantity, perEvent) };
        return send(client.POST('/api/v1/charges/evaluate', { body }));
      },
    })),
  });
  return tried.map(({ data, error, refetch }, index) => ({
    quantity: quantities[index] ?? '0',
    amount: data?.amount,
    exactAmount: data?.exact_amount,
    error,
    retry: refetch,
  }));
}

interface ChargeCostsProps {
  draft: ChargeDraft;
  currency: string;
  interval: string;
  unit: string | null;
}

/** The table beside the form. */
export function ChargeCosts({ draft, currency, interval, unit }: ChargeCostsProps) {
  const [own, setOwn] = useState('');
  const [perEvent, setPerEvent] = useState('1');
  const ownQuantity = plainDecimal(own);
  const isFixed = draft.type === 'FIXED';
  const quantities = isFixed ? ['0'] : [...QUANTITIES, ...(/^\d+(\.\d+)?$/.test(ownQuantity) ? [ownQuantity] : [])];
  const isByEvent = draft.type === 'USAGE' && draft.model === 'percentage';
  const size = plainDecimal(perEvent);
  const isSized = !isByEvent || isSize(size);
  const costs = useCosts(draft, currency, quantities, isByEvent && isSized ? size : '1');
  const isReady = isPriced(draft) && isSized;
  // What is wrong with a price is said at its fields.
  const failed = costs.filter(({ error }) => isReady && error !== null && problemOf(error).status !== 422);
  const readAgain = (): void => {
    for (const { retry } of failed) void retry();
  };
  return (
    <section className="costs" aria-label="Cost preview">
      <h3>Cost preview</h3>
      <table className="costs-table">
        <thead>
          <tr>
            <th scope="col">{isFixed ? 'Period' : (unit ?? 'Units')}</th>
            <th scope="col">Amount</th>
          </tr>
        </thead>
        <tbody aria-live="polite">
          {costs.map(({ quantity, amount, exactAmount, error }) => {
            const isKnown = isReady && error === null && amount !== undefined;
            return (
              <tr key={quantity}>
                <td>{isFixed ? `each ${interval}` : formatDecimal(quantity)}</td>
                <td>
                  {isKnown ? formatAmount(amount, currency) : '–'}
                  {isKnown && isRounded(amount, exactAmount) && <small>{exactAmount} before rounding</small>}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {!isFixed && (
        <TextInput
          label="Another quantity"
          {...NO_FIELD}
          value={own}
          onChange={({ currentTarget: { value } }) => setOwn(value)}
          inputMode="decimal"
          autoComplete="off"
        />
      )}
      {isByEvent && (
        <TextInput
          label="Units of an event, on average"
          {...NO_FIELD}
          value={perEvent}
          onChange={({ currentTarget: { value } }) => setPerEvent(value)}
          error={isSized ? undefined : 'Enter a number above 0, such as 49.90.'}
          inputMode="decimal"
          autoComplete="off"
        />
      )}
      <ProblemBox error={failed[0]?.error} onRetry={readAgain} />
      <p className="muted">Computed by the function that bills.</p>
    </section>
  );
}

/** What an event may be of on average: of a percentage the quantity is money. */
const isSize = (text: string): boolean => /^\d{1,15}(\.\d{1,15})?$/.test(text) && /[1-9]/.test(text);

/** How many events a quantity is of. */
function eventsOf(quantity: string, unitsPerEvent: string): number {
  const events = countParts(quantity, unitsPerEvent);
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  return Number(events > most ? most : events);
}

/** Whether an exact amount has digits that the amount has not. */
function isRounded(amount: string, exact: string | undefined): boolean {
  const plain = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  return exact !== undefined && plain(amount) !== plain(exact);
}
