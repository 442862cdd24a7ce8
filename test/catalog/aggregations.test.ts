// That all who name the aggregations name the same ones.

import { readFile } from 'node:fs/promises';
import { demoFeatures } from '@weir/services/demo';
import { AGGREGATION_TYPES, type AggregationType } from '@weir/shared/meter';
import type { AggregationType as OfClient } from '@weir/sdk';
import { expect, test } from 'vitest';
import type { components } from '../../apps/console/src/api/openapi.d.ts';
import { plansOf } from '../../chaos/clients/made-billing.ts';

type OfDocument = components['schemas']['Meter']['aggregation_type'];
type Same<A, B> = [A, B] extends [B, A] ? true : never;

const file = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the document and the client name each aggregation: where one differs, this does not compile', () => {
  // `npx vitest run openapi-types -u` writes those of the document anew.
  const document: Same<AggregationType, OfDocument> = true;
  const client: Same<AggregationType, OfClient> = true;
  expect([document, client]).toEqual([true, true]);
});

test('the table of meters takes each aggregation and no other', async () => {
  const [, list = ''] = /meters_aggregation_type_check CHECK (.*)/.exec(await file('packages/db/schema.sql')) ?? [];
  const taken = [...list.matchAll(/'(\w+)'/g)].map(([, name]) => name);
  expect(new Set(taken)).toEqual(new Set<string>(AGGREGATION_TYPES));
});

test.each(['docs/guides/first-event.md', 'README.md'])('%s names each aggregation', async (path) => {
  const text = await file(path);
  expect(AGGREGATION_TYPES.filter((name) => !text.includes(name))).toEqual([]);
});

test('chaos bills usage of each aggregation, as docs/chaos.md says', () => {
  const meters = AGGREGATION_TYPES.map((aggregation) => ({ id: aggregation, token: '', aggregation }));
  const charges = plansOf(meters).flatMap((plan) => plan.charges as { meter_id?: string }[]);
  const billed = charges.flatMap(({ meter_id }) => meter_id ?? []);
  expect(new Set(billed)).toEqual(new Set(AGGREGATION_TYPES));
});

test('the demo has a meter of each aggregation, and no other', () => {
  expect(demoFeatures.map(({ aggregation_type }) => aggregation_type).toSorted()).toEqual(AGGREGATION_TYPES.toSorted());
});
