// That all who name the models of charges name the same ones.

import { readFile } from 'node:fs/promises';
import { CHARGE_MODELS, type ChargeModel, type ChargeTerms } from '@weir/rating/charge-terms';
import { expect, test } from 'vitest';
import type { components } from '../../apps/console/src/api/openapi.d.ts';
import { plansOf } from '../../chaos/clients/made-billing.ts';

type Same<A, B> = [A, B] extends [B, A] ? true : never;
type Shown = Extract<components['schemas']['Charge'], { type: 'USAGE' }>;

test('the types of the document name each model: where one differs, this does not compile', () => {
  // `npx vitest run openapi-types -u` writes them anew.
  const models: Same<ChargeModel, Shown['model']> = true;
  expect(models).toBe(true);
});

test('a charge of a plan has all that a line says of its charge, so clients need one type for both', () => {
  const read = (terms: components['schemas']['ChargeTerms']): ChargeTerms => terms;
  const takesBoth: (charge: components['schemas']['Charge']) => ChargeTerms = read;
  expect(takesBoth).toBe(read);
});

test.each(['docs/billing.md', 'docs/guides/pricing-and-invoices.md'])('%s names each model', async (path) => {
  const text = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  expect(CHARGE_MODELS.filter((model) => !text.includes(`\`${model}\``))).toEqual([]);
});

test('chaos bills by each model, as docs/chaos.md says', () => {
  const charges = plansOf([]).flatMap((plan) => plan.charges as { type: string; model?: string }[]);
  const billed = charges.flatMap(({ type, model = 'per_unit' }) => (type === 'USAGE' ? [model] : []));
  expect(new Set(billed)).toEqual(new Set(CHARGE_MODELS));
});
