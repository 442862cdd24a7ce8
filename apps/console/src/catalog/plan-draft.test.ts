import { expect, test } from 'vitest';
import type { components } from '../api/openapi.d.ts';
import { newChargeDraft } from './charge-draft.ts';
import {
  copyOfPlan,
  draftOfPlan,
  newFeatureDraft,
  newPlanDraft,
  planBodyOf,
  planChangesOf,
  withMeter,
} from './plan-draft.ts';

const feature = { ...newFeatureDraft('f1'), usage_limit: '1000', static_value: null, created_at: '' };
const charge = { id: 'c1', type: 'FIXED', display_name: 'Fee', meter_id: null, timing: 'in_arrears', unit_price: '49' };
const plan = {
  id: 'p1',
  name: 'Pro',
  lookup_id: 'pro',
  type: 'HYBRID',
  billing_interval: 'month',
  currency: 'EUR',
  is_active: true,
  trial_days: 0,
  description: null,
  created_at: '',
  features: [feature],
  charges: [
    { ...charge, status: 'ACTIVE', replaces: null, ended_at: null },
    { ...charge, id: 'c0', status: 'INACTIVE', replaces: null, ended_at: '2026-01-01T00:00:00.000Z' },
    { ...charge, id: 'c2', display_name: 'Base', status: 'ACTIVE', replaces: null, ended_at: null },
  ],
} as unknown as components['schemas']['PlanWithFeatures'];

const catalog = [{ id: 'f1', name: 'Calls', meter_id: 'm1' }];

test('a copy has the prices that have not ended and the features, and another name', () => {
  expect(planBodyOf(copyOfPlan(plan), catalog)).toMatchObject({
    name: 'Pro copy',
    lookup_id: 'pro-copy',
    currency: 'EUR',
    charges: [
      { type: 'FIXED', display_name: 'Fee', timing: 'in_arrears', unit_price: '49' },
      { type: 'FIXED', display_name: 'Base' },
    ],
    features: [{ feature_id: 'f1', usage_limit: '1000' }],
  });
});

test('a feature without a meter is sent without the limit that the plan has of it from before', () => {
  const [switched] = catalog.map((each) => ({ ...each, meter_id: null }));
  const limited = { ...plan, features: [{ ...feature, usage_reset_period: 'month' as const }] };
  const sent = (known: typeof catalog | { id: string; name: string; meter_id: null }[]) =>
    planBodyOf(copyOfPlan(limited), known).features;
  expect(sent(catalog)).toMatchObject([{ usage_limit: '1000', usage_reset_period: 'month' }]);
  expect(sent([switched!])).toMatchObject([{ usage_limit: null, usage_reset_period: null }]);
});

test('of a plan that is changed only what differs is sent', () => {
  const draft = draftOfPlan(plan);
  expect(Object.keys(planChangesOf(plan, draft, catalog))).toEqual([
    'name',
    'lookup_id',
    'trial_days',
    'description',
    'is_active',
  ]);
  const changed = {
    ...draft,
    archived: ['c1'],
    renamed: { c1: 'Gone', c0: 'Fee', c2: ' Base fee ' },
    charges: [
      { key: 'x', draft: { ...newChargeDraft('FIXED'), unit_price: '59' }, replaces: 'c1', from: '' },
      { key: 'y', draft: { ...newChargeDraft('FIXED'), unit_price: '69' }, replaces: 'c2', from: '2027-01-01' },
    ],
    features: [newFeatureDraft('f2')],
  };
  const sent = planChangesOf(plan, changed, catalog);
  expect(sent.update_charges).toEqual([
    { id: 'c1', status: 'INACTIVE' },
    { id: 'c2', display_name: 'Base fee' },
  ]);
  expect(sent.add_charges?.map((each) => each.effective_from)).toEqual([undefined, '2027-01-01']);
  expect(sent).toMatchObject({
    add_charges: [
      { type: 'FIXED', unit_price: '59', replaces: 'c1' },
      { unit_price: '69', replaces: 'c2' },
    ],
    remove_features: ['f1'],
    put_features: [{ feature_id: 'f2', usage_limit: null }],
  });
});

test('the meter of a charge brings its feature in place of the one before, unless that has a limit', () => {
  const catalog = ['a', 'b'].map((meter_id) => ({ id: `feature-${meter_id}`, name: `Meter ${meter_id}`, meter_id }));
  const row = { key: 'x', draft: newChargeDraft('USAGE') };
  const one = withMeter({ ...newPlanDraft(), charges: [row] }, { key: 'x', meter: 'a', catalog });
  expect(one.charges[0]?.draft).toMatchObject({ meter_id: 'a', display_name: 'Meter a' });
  expect(one.features).toEqual([newFeatureDraft('feature-a')]);
  const other = withMeter(one, { key: 'x', meter: 'b', catalog });
  expect(other.charges[0]?.draft.display_name).toBe('Meter b');
  expect(other.features).toEqual([newFeatureDraft('feature-b')]);
  const limited = { ...other, features: other.features.map((each) => ({ ...each, usage_limit: '5' })) };
  expect(withMeter(limited, { key: 'x', meter: null, catalog }).features).toEqual(limited.features);
});
