// The terms of a charge, as they were agreed: the copy of a charge that each due keeps, and the fields that the API shows.
//
// Numbers are decimal strings in one form, that of `plainDecimal`: no exponent, no needless zeros (`0.1`, not `0.10` or `.1`).
// A field that may be left out is null where it was. A kind of charge has no fields of another kind.

export type ChargeTerms = FixedTerms | UsageTerms;

/** A price for each period. */
export interface FixedTerms {
  type: 'FIXED';
  timing: 'in_advance' | 'in_arrears';
  unit_price: string;
}

/** The ways to price usage, in the order in which everybody lists them. */
export const CHARGE_MODELS = ['per_unit', 'graduated', 'volume', 'package', 'percentage'] as const;
export type ChargeModel = (typeof CHARGE_MODELS)[number];

/** The terms of each model. A new one does not compile wherever more has to be known of it: see CONTRIBUTING.md. */
export interface TermsByModel {
  per_unit: PerUnitTerms;
  graduated: GraduatedTerms;
  volume: VolumeTerms;
  package: PackageTerms;
  percentage: PercentageTerms;
}

/** A price for a meter's usage, always in arrears. */
export type UsageTerms = TermsByModel[ChargeModel];

interface PerUnitTerms extends Bounds {
  type: 'USAGE';
  model: 'per_unit';
  unit_price: string;
  included_units: string | null;
}

/** Each tier prices the part of the quantity that is in it. */
export interface GraduatedTerms extends Bounds {
  type: 'USAGE';
  model: 'graduated';
  tiers: Tier[];
}

/** The tier that the whole quantity is in prices all of it. */
export interface VolumeTerms extends Bounds {
  type: 'USAGE';
  model: 'volume';
  tiers: Tier[];
}

/** A package that was begun is paid. */
export interface PackageTerms extends Bounds {
  type: 'USAGE';
  model: 'package';
  unit_price: string;
  /** Greater than 0. */
  package_size: string;
  included_units: string | null;
}

interface PercentageTerms extends Bounds {
  type: 'USAGE';
  model: 'percentage';
  /** Percent of the quantity. */
  rate: string;
  /** For each event. */
  fixed_amount: string | null;
  included_units: string | null;
}

/** Of the exact amount, before it is rounded. */
export interface Bounds {
  minimum_amount: string | null;
  maximum_amount: string | null;
}

/** Tiers stand in rising order. The quantity `up_to` belongs to its tier; null, in the last and only there, has no end. */
export interface Tier {
  up_to: string | null;
  unit_price: string;
  flat_fee: string;
}
