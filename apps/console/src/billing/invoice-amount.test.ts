import { expect, test } from 'vitest';
import type { Schema } from '../api/client.ts';
import { amountOfListed } from './invoice-amount.ts';

test('an amount is unknown where the draft cannot be computed, and not where nothing is said of that', () => {
  const invoice = { currency: 'USD', not_computed: null } as Schema<'Invoice'>;
  expect(amountOfListed(invoice, '12.50')).toBe('12.50 USD');
  const { not_computed: _, ...ofBefore } = invoice;
  expect(amountOfListed(ofBefore as Schema<'Invoice'>, '12.50')).toBe('12.50 USD');
  const why = { code: 'month_taken_out', detail: 'Attach it.' };
  expect(amountOfListed({ ...invoice, not_computed: why }, '0.00')).toBe('amount unknown');
});
