// The models of charges as the console offers them, in their order. The document has their names and fields: a model or a field that is
// missing here does not compile.

import type { components } from '../api/openapi.d.ts';

type PricesOf<Charge> = Charge extends unknown ? Omit<Charge, 'display_name' | 'meter_id'> : never;

/** The price of a charge: that of a plan, the copy on a line of an invoice, or what is being written. */
export type ChargeTerms = PricesOf<components['schemas']['ChargeTerms']>;

/** A charge as it is added to a plan. */
export type NewCharge = components['schemas']['NewCharge'];

type UsageTerms = Extract<ChargeTerms, { type: 'USAGE' }>;
export type ChargeModel = UsageTerms['model'];

type OfModel<Terms, Model> = Terms extends { model: infer Models } ? (Model extends Models ? Terms : never) : never;
type Keys<Terms> = Terms extends unknown ? keyof Terms : never;
type FieldsOf<Terms> = Exclude<Keys<Terms>, 'type' | 'model'>;

/** Whether there is a price without it. */
type Need = 'needed' | 'optional';

type ChargeField = FieldsOf<ChargeTerms>;
/** A field that holds a decimal. */
export type PriceField = Exclude<ChargeField, 'tiers' | 'timing'>;

/** All that some charge has. */
export type AnyTerms = { [Field in ChargeField]?: Extract<ChargeTerms, Record<Field, unknown>>[Field] };

interface ModelOf<Model extends ChargeModel> {
  name: string;
  hint: string;
  /** In the order of the form. */
  fields: Readonly<Record<FieldsOf<OfModel<UsageTerms, Model>>, Need>>;
}

const bounds = { minimum_amount: 'optional', maximum_amount: 'optional' } as const;

export const MODELS: { readonly [Model in ChargeModel]: ModelOf<Model> } = {
  per_unit: {
    name: 'Per unit',
    hint: 'Every unit costs the same.',
    fields: { unit_price: 'needed', included_units: 'optional', ...bounds },
  },
  graduated: {
    name: 'Graduated tiers',
    hint: 'Each tier’s part of the quantity has its own price.',
    fields: { tiers: 'needed', ...bounds },
  },
  volume: {
    name: 'Volume tiers',
    hint: 'The whole quantity has the price of the tier that it falls into.',
    fields: { tiers: 'needed', ...bounds },
  },
  package: {
    name: 'Packages',
    hint: 'Units are sold in packages; a started one is paid whole.',
    fields: { unit_price: 'needed', package_size: 'needed', included_units: 'optional', ...bounds },
  },
  percentage: {
    name: 'Percentage',
    hint: 'A percentage of the quantity, and an amount for each event.',
    fields: { rate: 'needed', fixed_amount: 'optional', included_units: 'optional', ...bounds },
  },
};

const FIXED: Readonly<Record<FieldsOf<Extract<ChargeTerms, { type: 'FIXED' }>>, Need>> = {
  timing: 'optional',
  unit_price: 'needed',
};

/** Which fields a kind of charge has. */
export function fieldsOf({ type, model }: { type: ChargeTerms['type']; model: ChargeModel }) {
  const fields: Partial<Record<ChargeField, Need>> = type === 'FIXED' ? FIXED : MODELS[model].fields;
  return fields;
}
