// A charge while it is being written: everything is text as it was typed, and fields of other models are kept, so that
// going from one model to another and back loses nothing.

import { plainDecimal } from '../parts/typed-text.ts';

export type ChargeModel = 'per_unit' | 'graduated' | 'volume' | 'package' | 'percentage';

export interface TierDraft {
  up_to: string;
  unit_price: string;
  flat_fee: string;
}

export interface ChargeDraft {
  type: 'FIXED' | 'USAGE';
  display_name: string;
  meter_id: string | null;
  model: ChargeModel;
  timing: 'in_advance' | 'in_arrears';
  unit_price: string;
  included_units: string;
  package_size: string;
  rate: string;
  fixed_amount: string;
  minimum_amount: string;
  maximum_amount: string;
  /** The last one has no end, whatever its up_to says. */
  tiers: TierDraft[];
}

export function newChargeDraft(type: ChargeDraft['type']): ChargeDraft {
  return {
    type,
    display_name: '',
    meter_id: null,
    model: 'per_unit',
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

/** Which price fields a kind of charge has. */
export function fieldsOf({ type, model }: Pick<ChargeDraft, 'type' | 'model'>): readonly (keyof ChargeDraft)[] {
  if (type === 'FIXED') return ['timing', 'unit_price'];
  const bounds = ['minimum_amount', 'maximum_amount'] as const;
  switch (model) {
    case 'per_unit':
      return ['unit_price', 'included_units', ...bounds];
    case 'graduated':
    case 'volume':
      return ['tiers', ...bounds];
    case 'package':
      return ['unit_price', 'package_size', 'included_units', ...bounds];
    case 'percentage':
      return ['rate', 'fixed_amount', 'included_units', ...bounds];
  }
}

/** The terms as the API takes them: what was left empty is not sent, so that its answer names what is missing. */
export function termsOf(draft: ChargeDraft): Record<string, unknown> {
  const terms: Record<string, unknown> = { type: draft.type };
  if (draft.type === 'USAGE') terms['model'] = draft.model;
  for (const field of fieldsOf(draft)) {
    if (field === 'tiers') terms['tiers'] = draft.tiers.map(tierOf);
    else if (text(draft, field) !== '') terms[field] = text(draft, field);
  }
  return terms;
}

/** The body that adds the charge to a plan. */
export function chargeBodyOf(draft: ChargeDraft): Record<string, unknown> {
  return {
    ...termsOf(draft),
    display_name: draft.display_name.trim(),
    ...(draft.type === 'USAGE' && draft.meter_id !== null && { meter_id: draft.meter_id }),
  };
}

/** Whether there is enough of a price to ask what it comes to. */
export function isPriced(draft: ChargeDraft): boolean {
  if (draft.type === 'FIXED' || draft.model === 'per_unit') return plainDecimal(draft.unit_price) !== '';
  if (draft.model === 'percentage') return plainDecimal(draft.rate) !== '';
  if (draft.model === 'package')
    return plainDecimal(draft.unit_price) !== '' && plainDecimal(draft.package_size) !== '';
  return draft.tiers.every(
    ({ up_to, unit_price }, index) =>
      plainDecimal(unit_price) !== '' && (plainDecimal(up_to) !== '' || index === draft.tiers.length - 1),
  );
}

function text(draft: ChargeDraft, field: Exclude<keyof ChargeDraft, 'tiers'>): string {
  return plainDecimal(draft[field] ?? '');
}

function tierOf({ up_to, unit_price, flat_fee }: TierDraft, index: number, tiers: readonly TierDraft[]) {
  return {
    up_to: index === tiers.length - 1 ? null : plainDecimal(up_to),
    unit_price: plainDecimal(unit_price),
    ...(plainDecimal(flat_fee) !== '' && { flat_fee: plainDecimal(flat_fee) }),
  };
}
