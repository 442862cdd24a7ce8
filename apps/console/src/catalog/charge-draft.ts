// A charge while it is being written: everything is text as it was typed, and fields of other models are kept, so that
// going from one model to another and back loses nothing.

import type { components } from '../api/openapi.d.ts';
import { keysOf } from '../components/forms/keys-of.ts';
import { plainDecimal } from '../text/typed-text.ts';
import {
  fieldsOf,
  type AnyTerms,
  type ChargeModel,
  type ChargeTerms,
  type NewCharge,
  type PriceField,
} from './charge-models.ts';
import { describeCharge } from './charge-words.ts';

export interface TierDraft {
  up_to: string;
  unit_price: string;
  flat_fee: string;
}

export interface ChargeDraft extends Record<PriceField, string> {
  type: ChargeTerms['type'];
  display_name: string;
  meter_id: string | null;
  model: ChargeModel;
  timing: NonNullable<AnyTerms['timing']>;
  /** The last one has no end, whatever its up_to says. */
  tiers: TierDraft[];
}

export function newChargeDraft(type: ChargeDraft['type'], model: ChargeModel = 'per_unit'): ChargeDraft {
  return {
    type,
    display_name: '',
    meter_id: null,
    model,
    timing: 'in_advance',
    unit_price: '',
    included_units: '',
    package_size: '',
    rate: '',
    fixed_amount: '',
    minimum_amount: '',
    maximum_amount: '',
    tiers: [
      { up_to: '1000', unit_price: '', flat_fee: '' },
      { up_to: '', unit_price: '', flat_fee: '' },
    ],
  };
}

/** What puts a charge in the place of another one begins as its copy. */
export function draftOf(charge: components['schemas']['Charge']): ChargeDraft {
  const draft = newChargeDraft(charge.type);
  const terms: AnyTerms = charge;
  const { display_name, meter_id } = charge;
  const { model } = charge.type === 'USAGE' ? charge : draft;
  const prices: Partial<Record<PriceField, string>> = {};
  for (const field of keysOf(fieldsOf({ type: charge.type, model })))
    if (field !== 'tiers' && field !== 'timing') prices[field] = terms[field] ?? '';
  return {
    ...draft,
    ...prices,
    display_name,
    meter_id,
    model,
    timing: terms.timing ?? draft.timing,
    tiers: terms.tiers?.map((tier) => ({ ...tier, up_to: tier.up_to ?? '' })) ?? draft.tiers,
  };
}

/** The terms as the API takes them. What is needed and was left empty is sent as an empty text: its answer names that. */
export function termsOf(draft: ChargeDraft): ChargeTerms {
  const needed = (field: PriceField): string => plainDecimal(draft[field]);
  const optional = (field: PriceField): string | null => plainDecimal(draft[field]) || null;
  const { type, model, timing } = draft;
  if (type === 'FIXED') return { type, timing, unit_price: needed('unit_price') };
  const bounds = { minimum_amount: optional('minimum_amount'), maximum_amount: optional('maximum_amount') };
  const included_units = optional('included_units');
  switch (model) {
    case 'per_unit':
      return { type, model, unit_price: needed('unit_price'), included_units, ...bounds };
    case 'graduated':
    case 'volume':
      return { type, model, tiers: draft.tiers.map(tierOf), ...bounds };
    case 'package': {
      const [unit_price, package_size] = [needed('unit_price'), needed('package_size')];
      return { type, model, unit_price, package_size, included_units, ...bounds };
    }
    case 'percentage':
      return { type, model, rate: needed('rate'), fixed_amount: optional('fixed_amount'), included_units, ...bounds };
  }
}

/** The body that adds the charge to a plan. */
export function chargeBodyOf(draft: ChargeDraft): NewCharge {
  const terms = termsOf(draft);
  const display_name = draft.display_name.trim();
  if (terms.type === 'FIXED') return { ...terms, display_name };
  return { ...terms, display_name, meter_id: draft.meter_id ?? '' };
}

/** Whether there is enough of a price to ask what it comes to. */
export function isPriced(draft: ChargeDraft): boolean {
  const fields = fieldsOf(draft);
  return keysOf(fields).every((field) => {
    if (fields[field] !== 'needed') return true;
    return field === 'tiers' ? draft.tiers.every(isTierPriced) : plainDecimal(draft[field]) !== '';
  });
}

/** The price as a price list says it; undefined while there is not enough of it. */
export function describeDraft(draft: ChargeDraft, currency: string, interval: string): string | undefined {
  if (!isPriced(draft)) return undefined;
  return describeCharge(termsOf(draft), currency, interval);
}

function isTierPriced({ up_to, unit_price }: TierDraft, index: number, tiers: readonly TierDraft[]): boolean {
  return plainDecimal(unit_price) !== '' && (plainDecimal(up_to) !== '' || index === tiers.length - 1);
}

function tierOf({ up_to, unit_price, flat_fee }: TierDraft, index: number, tiers: readonly TierDraft[]) {
  return {
    up_to: index === tiers.length - 1 ? null : plainDecimal(up_to),
    unit_price: plainDecimal(unit_price),
    flat_fee: plainDecimal(flat_fee) || '0',
  };
}
