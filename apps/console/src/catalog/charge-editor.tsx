// The price of a plan, written while one sees what it comes to. The figures are the API's: the same function bills.

import { ActionIcon, Button, Checkbox, Select, TextInput } from '@mantine/core';
import { Icon } from '../components/page/icons.tsx';
import { DateField } from '../components/forms/date-field.tsx';
import { keysOf } from '../components/forms/keys-of.ts';
import type { ChargeDraft, TierDraft } from './charge-draft.ts';
import { fieldsOf, MODELS, type PriceField } from './charge-models.ts';

interface MeterChoice {
  value: string;
  label: string;
}

interface ChargeEditorProps {
  draft: ChargeDraft;
  onChange: (draft: ChargeDraft) => void;
  onMeter: (meter: string | null) => void;
  currency: string;
  interval: string;
  meters: MeterChoice[];
  /** Whether it takes the place of a charge, of whose meter it has to be. */
  isReplacing: boolean;
  /** The day from which it holds, for a plan that is there. */
  from: { label: string; value: string; onChange: (day: string) => void } | undefined;
  /** The feature of its meter, and whether the plan includes it. */
  feature: { name: string; isIncluded: boolean; onChange: (isIncluded: boolean) => void } | undefined;
  /** Returns the refusal of a field, by its path in a charge. */
  errorOf: (path: string) => string | undefined;
}

const modelChoices = keysOf(MODELS).map((value) => ({ value, label: MODELS[value].name }));

/** What a field is called, and what stands in it while it is empty. */
const FIELDS: Readonly<
  Record<
    PriceField,
    { label: (draft: ChargeDraft, of: { currency: string; interval: string }) => string; empty?: string }
  >
> = {
  unit_price: { label: (draft, { currency, interval }) => `${priceLabel(draft, interval)}, ${currency}` },
  package_size: { label: () => 'Units in a package' },
  rate: { label: () => 'Percentage, %' },
  fixed_amount: { label: (_, { currency }) => `For each event, ${currency}` },
  included_units: { label: () => 'Included units', empty: 'none' },
  minimum_amount: { label: (_, { currency }) => `At least, ${currency}`, empty: 'no minimum' },
  maximum_amount: { label: (_, { currency }) => `At most, ${currency}`, empty: 'no maximum' },
};

/** The form of a charge. It keeps what is typed in fields that another model does not have. */
export function ChargeEditor(props: ChargeEditorProps) {
  const { draft, onChange, onMeter, currency, interval, meters, isReplacing, from, feature, errorOf } = props;
  const change = (part: Partial<ChargeDraft>) => onChange({ ...draft, ...part });
  const fields = fieldsOf(draft);
  const text = (name: PriceField) => ({
    value: draft[name],
    onChange: (event: { currentTarget: { value: string } }) => change({ [name]: event.currentTarget.value }),
    error: errorOf(name),
    inputMode: 'decimal' as const,
    autoComplete: 'off',
  });
  return (
    <div className="charge-fields">
      <div className="form-row is-wide">
        {draft.type === 'USAGE' && (
          <Select
            label="Meter"
            placeholder="Whose usage is priced"
            data={meters}
            value={draft.meter_id}
            onChange={onMeter}
            error={errorOf('meter_id')}
            limit={50}
            nothingFoundMessage="No such meter"
            disabled={isReplacing}
            openOnFocus
            searchable
            selectFirstOptionOnChange
            required
          />
        )}
        <TextInput
          label="Name"
          placeholder="What invoices call it"
          value={draft.display_name}
          onChange={({ currentTarget: { value } }) => change({ display_name: value })}
          error={errorOf('display_name')}
          autoComplete="off"
          required
        />
        {draft.type === 'FIXED' ? (
          <Select
            label="Due"
            data={[
              { value: 'in_advance', label: 'In advance' },
              { value: 'in_arrears', label: 'At the end of the period' },
            ]}
            value={draft.timing}
            onChange={(timing) => change({ timing: timing ?? 'in_advance' })}
            allowDeselect={false}
          />
        ) : (
          <Select
            label="Model"
            value={draft.model}
            onChange={(model) => change({ model: model ?? 'per_unit' })}
            data={modelChoices}
            allowDeselect={false}
          />
        )}
        {from !== undefined && <DateField {...from} error={errorOf('effective_from')} />}
      </div>
      {draft.type === 'USAGE' && <p className="charge-hint">{MODELS[draft.model].hint}</p>}
      {fields.tiers !== undefined && (
        <Tiers tiers={draft.tiers} onChange={(tiers) => change({ tiers })} currency={currency} errorOf={errorOf} />
      )}
      <div className="form-row is-wide">
        {keysOf(fields).map(
          (name) =>
            name !== 'tiers' &&
            name !== 'timing' && (
              <TextInput
                key={name}
                label={FIELDS[name].label(draft, { currency, interval })}
                placeholder={FIELDS[name].empty}
                required={fields[name] === 'needed'}
                {...text(name)}
              />
            ),
        )}
      </div>
      {feature !== undefined && (
        <Checkbox
          label={`Include the feature ${feature.name} in the plan`}
          checked={feature.isIncluded}
          onChange={({ currentTarget: { checked } }) => feature.onChange(checked)}
        />
      )}
    </div>
  );
}

function priceLabel({ type, model }: ChargeDraft, interval: string): string {
  if (type === 'FIXED') return `Price of a ${interval}`;
  return model === 'package' ? 'Price of a package' : 'Price of a unit';
}

interface TiersProps {
  tiers: TierDraft[];
  onChange: (tiers: TierDraft[]) => void;
  currency: string;
  errorOf: (path: string) => string | undefined;
}

const TIER_FIELDS = [
  ['up_to', 'Up to'],
  ['unit_price', 'Price of a unit'],
  ['flat_fee', 'Flat fee'],
] as const;

function Tiers({ tiers, onChange, currency, errorOf }: TiersProps) {
  const change = (index: number, part: Partial<TierDraft>) =>
    onChange(tiers.map((tier, at) => (at === index ? { ...tier, ...part } : tier)));
  const last = tiers.length - 1;
  return (
    <fieldset className="tiers">
      <legend>Tiers, in {currency}</legend>
      <div className="tier tier-head" aria-hidden="true">
        {TIER_FIELDS.map(([name, label]) => (
          <span key={name}>{label}</span>
        ))}
      </div>
      {tiers.map((tier, index) => (
        // Tiers have no name of their own: they are where they stand.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index} className="tier">
          {TIER_FIELDS.map(([name, label]) => {
            const isEnd = name === 'up_to' && index === last;
            return (
              <TextInput
                key={name}
                aria-label={`${label}, tier ${index + 1}`}
                value={isEnd ? 'no end' : tier[name]}
                disabled={isEnd}
                placeholder={name === 'flat_fee' ? '0' : undefined}
                onChange={({ currentTarget: { value } }) => change(index, { [name]: value })}
                error={errorOf(`tiers[${index}].${name}`)}
                inputMode="decimal"
                autoComplete="off"
              />
            );
          })}
          <ActionIcon
            aria-label={`Remove tier ${index + 1}`}
            disabled={tiers.length === 1}
            onClick={() => onChange(tiers.filter((_, at) => at !== index))}
          >
            <Icon name="trash" />
          </ActionIcon>
        </div>
      ))}
      {errorOf('tiers') !== undefined && <p className="field-error">{errorOf('tiers')}</p>}
      <Button variant="subtle" leftSection={<Icon name="plus" />} onClick={() => onChange(withTier(tiers))}>
        Add a tier
      </Button>
    </fieldset>
  );
}

/** With one more before the last, ten times as far as the one before it. */
function withTier(tiers: TierDraft[]): TierDraft[] {
  const before = tiers.at(-2)?.up_to ?? '';
  const up_to = /^\d+$/.test(before) ? `${before}0` : '';
  return [...tiers.slice(0, -1), { up_to, unit_price: '', flat_fee: '' }, ...tiers.slice(-1)];
}
