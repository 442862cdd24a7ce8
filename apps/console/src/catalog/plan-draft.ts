// A plan while it is being written, on one page: its fields, the charges that are to come, and what it includes. Everything is text
// as it was typed. What is sent of it is one request.

import type { components, paths } from '../api/openapi.d.ts';
import { plainDecimal, wholeNumber } from '../text/typed-text.ts';
import { isPresent } from './charge-time.ts';
import { chargeBodyOf, draftOf, type ChargeDraft } from './charge-draft.ts';
import type { NewCharge } from './charge-models.ts';

type Plan = components['schemas']['PlanWithFeatures'];
type PlanFeature = Plan['features'][number];

/** A plan as it is made. */
export type SentPlan = paths['/api/v1/plans']['post']['requestBody']['content']['application/json'];
/** What is changed of a plan. */
export type SentChanges = NonNullable<
  paths['/api/v1/plans/{id}']['patch']['requestBody']
>['content']['application/json'];

type ChangedCharge = NonNullable<SentChanges['update_charges']>[number];

/** A charge that the plan does not have yet. */
export interface ChargeRow {
  key: string;
  draft: ChargeDraft;
  /** The charge whose place it takes. */
  replaces?: string;
  /** The day from which it holds; without one, it does as soon as it is saved. */
  from?: string;
}

export interface FeatureDraft extends Pick<PlanFeature, 'feature_id' | 'is_enabled' | 'is_soft_limit'> {
  usage_limit: string;
  usage_reset_period: PlanFeature['usage_reset_period'];
  static_value: string;
}

export interface PlanDraft extends Pick<
  Plan,
  'name' | 'lookup_id' | 'type' | 'billing_interval' | 'currency' | 'is_active'
> {
  trial_days: string;
  description: string;
  charges: ChargeRow[];
  /** Charges of the plan that end when it is saved. */
  archived: string[];
  /** What charges of the plan are called when it is saved, by their ids. */
  renamed: Record<string, string>;
  features: FeatureDraft[];
}

/** A feature as the catalog has it. */
export type MeterFeature = Pick<components['schemas']['Feature'], 'id' | 'name' | 'meter_id'>;

export const newFeatureDraft = (feature_id: string): FeatureDraft => ({
  feature_id,
  is_enabled: true,
  usage_limit: '',
  usage_reset_period: null,
  is_soft_limit: false,
  static_value: '',
});

export function newPlanDraft(): PlanDraft {
  return {
    name: '',
    lookup_id: '',
    type: 'HYBRID',
    billing_interval: 'month',
    currency: 'USD',
    trial_days: '0',
    description: '',
    is_active: true,
    charges: [],
    archived: [],
    renamed: {},
    features: [],
  };
}

/** A plan as it is, to be changed: its charges stay what they are, and are no drafts. */
export function draftOfPlan(plan: Plan): PlanDraft {
  const { name, lookup_id, type, billing_interval, currency, is_active } = plan;
  return {
    name,
    lookup_id,
    type,
    billing_interval,
    currency,
    is_active,
    trial_days: String(plan.trial_days),
    description: plan.description ?? '',
    charges: [],
    archived: [],
    renamed: {},
    features: plan.features.map(draftOfFeature),
  };
}

/** Another plan with all that this one costs and includes. */
export function copyOfPlan(plan: Plan): PlanDraft {
  const charges = plan.charges
    .filter((charge) => isPresent(charge))
    .map((charge) => ({ key: charge.id, draft: draftOf(charge) }));
  return { ...draftOfPlan(plan), name: `${plan.name} copy`, lookup_id: `${plan.lookup_id}-copy`.slice(-64), charges };
}

/** With another meter for a charge: that is called as it, and the plan includes its feature in place of the one before. */
export function withMeter(
  { charges, features }: Pick<PlanDraft, 'charges' | 'features'>,
  { key, meter, catalog }: { key: string; meter: string | null; catalog: readonly MeterFeature[] },
): Pick<PlanDraft, 'charges' | 'features'> {
  const row = charges.find((each) => each.key === key);
  const featureOf = (id: string | null | undefined) => catalog.find(({ meter_id }) => meter_id === (id ?? ''));
  const [before, after] = [featureOf(row?.draft.meter_id), featureOf(meter)];
  // What somebody has said more of stays.
  const left = features.filter((each) => each.feature_id !== before?.id || !isBare(each));
  const isThere = left.some(({ feature_id }) => feature_id === after?.id);
  const rename = ({ display_name }: ChargeDraft): string =>
    display_name === '' || display_name === before?.name ? (after?.name ?? '') : display_name;
  return {
    charges: charges.map((each) =>
      each.key === key
        ? { ...each, draft: { ...each.draft, meter_id: meter, display_name: rename(each.draft) } }
        : each,
    ),
    features: after === undefined || isThere ? left : [...left, newFeatureDraft(after.id)],
  };
}

function isBare(feature: FeatureDraft): boolean {
  return JSON.stringify(feature) === JSON.stringify(newFeatureDraft(feature.feature_id));
}

/** The body that makes the plan. What is missing in it is told by the API. */
export function planBodyOf(draft: PlanDraft, catalog: readonly MeterFeature[]): SentPlan {
  return {
    ...fieldsOf(draft),
    ...termsOf(draft),
    charges: draft.charges.map(sentCharge),
    features: draft.features.map((each) => sentFeature(each, catalog)),
  };
}

/** The body that changes the plan. Its type, interval and currency are fixed once it has a price. */
export function planChangesOf(plan: Plan, draft: PlanDraft, catalog: readonly MeterFeature[]): SentChanges {
  const charges = changedCharges(plan, draft);
  const changed = changedFeatures(plan, draft).map((each) => sentFeature(each, catalog));
  const kept = new Set(draft.features.map(({ feature_id }) => feature_id));
  const removed = plan.features.map(({ feature_id }) => feature_id).filter((id) => !kept.has(id));
  return {
    ...fieldsOf(draft),
    ...(plan.charges.length === 0 && termsOf(draft)),
    ...(charges.length > 0 && { update_charges: charges }),
    ...(draft.charges.length > 0 && { add_charges: draft.charges.map(sentCharge) }),
    ...(removed.length > 0 && { remove_features: removed }),
    ...(changed.length > 0 && { put_features: changed }),
  };
}

/** What is changed of charges that the plan has, in the order in which it is sent. */
export function changedCharges({ charges }: Plan, { archived, renamed }: PlanDraft): ChangedCharge[] {
  return charges.flatMap(({ id, display_name: before }): ChangedCharge[] => {
    if (archived.includes(id)) return [{ id, status: 'INACTIVE' as const }];
    const display_name = renamed[id]?.trim() ?? before;
    return display_name === before ? [] : [{ id, display_name }];
  });
}

/** Those that the plan has not, or says something else of, in the order in which they are sent. */
export function changedFeatures(plan: Plan, { features }: PlanDraft): FeatureDraft[] {
  const before = new Map(plan.features.map((each) => [each.feature_id, JSON.stringify(draftOfFeature(each))]));
  return features.filter((each) => before.get(each.feature_id) !== JSON.stringify(each));
}

/** What a plan includes by now, with what somebody has changed of it since it was as it was known. */
export function mergedFeatures(now: PlanDraft, typed: PlanDraft, known: PlanDraft): FeatureDraft[] {
  const [present, mine, before] = [now, typed, known].map(
    ({ features }) => new Map(features.map((each) => [each.feature_id, each])),
  );
  const ids = new Set([...now.features, ...typed.features].map(({ feature_id }) => feature_id));
  return [...ids].flatMap((id) => {
    const isMine = JSON.stringify(mine?.get(id)) !== JSON.stringify(before?.get(id));
    return (isMine ? mine : present)?.get(id) ?? [];
  });
}

function draftOfFeature(feature: PlanFeature): FeatureDraft {
  const { feature_id, is_enabled, usage_limit, usage_reset_period, is_soft_limit, static_value } = feature;
  return {
    feature_id,
    is_enabled,
    usage_limit: usage_limit ?? '',
    usage_reset_period,
    is_soft_limit,
    static_value: static_value ?? '',
  };
}

function fieldsOf({ name, lookup_id, trial_days, description, is_active }: PlanDraft) {
  return { name, lookup_id, trial_days: wholeNumber(trial_days), description: description.trim() || null, is_active };
}

function termsOf({ type, billing_interval, currency }: PlanDraft) {
  return { type, billing_interval, currency: currency.trim().toUpperCase() };
}

const sentCharge = ({ draft, replaces, from = '' }: ChargeRow): NewCharge => ({
  ...chargeBodyOf(draft),
  ...(replaces !== undefined && { replaces }),
  ...(from !== '' && { effective_from: from }),
});

/** A plan may have a limit from before for a feature without a meter, which takes none. */
function sentFeature(
  { usage_limit, usage_reset_period, static_value, ...feature }: FeatureDraft,
  catalog: readonly MeterFeature[],
) {
  const isMetered = catalog.find(({ id }) => id === feature.feature_id)?.meter_id !== null;
  return {
    ...feature,
    usage_limit: (isMetered && plainDecimal(usage_limit)) || null,
    usage_reset_period: isMetered ? usage_reset_period : null,
    static_value: static_value.trim() || null,
  };
}
