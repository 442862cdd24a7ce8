// What a plan includes, edited where it stands: the limits of metered features, and switches and values of the others.

import { Checkbox, Select, Switch, TextInput } from '@mantine/core';
import type { Schema } from '../api/client.ts';
import { NO_FIELD, type Form } from '../components/forms/form.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { Section } from '../components/page/page.tsx';
import { newFeatureDraft, type FeatureDraft, type PlanDraft } from './plan-draft.ts';

type Feature = Schema<'Feature'>;

const RESETS = (['hour', 'day', 'week', 'month', 'year'] as const).map((value) => ({ value, label: `each ${value}` }));

interface FeatureRowsProps {
  form: Form<PlanDraft>;
  catalog: readonly Feature[];
  /** Where a feature stands in what is sent. */
  pathOf: (feature: FeatureDraft) => string;
}

export function FeatureRows({ form, catalog, pathOf }: FeatureRowsProps) {
  const { features } = form.values;
  const set = (next: FeatureDraft[]) => form.set('features', next);
  const left = catalog.filter(({ id }) => features.every(({ feature_id }) => feature_id !== id));
  return (
    <Section title="Features and limits">
      <ul className="rows" aria-label="Features and limits">
        {features.map((each) => (
          <FeatureRow
            key={each.feature_id}
            draft={each}
            feature={catalog.find(({ id }) => id === each.feature_id)}
            onChange={(part) =>
              set(features.map((one) => (one.feature_id === each.feature_id ? { ...one, ...part } : one)))
            }
            onRemove={() => set(features.filter(({ feature_id }) => feature_id !== each.feature_id))}
            errorOf={(field) => form.errorAt(`${pathOf(each)}.${field}`)}
          />
        ))}
      </ul>
      <div className="add-row">
        <Select
          aria-label="Include a feature"
          placeholder="Include a feature"
          data={left.map(({ id, name }) => ({ value: id, label: name }))}
          // It stays empty: what is chosen is in the list.
          key={features.length}
          value={null}
          onChange={(id) => id !== null && set([...features, newFeatureDraft(id)])}
          limit={100}
          nothingFoundMessage="No such feature"
          disabled={left.length === 0}
          {...NO_FIELD}
          openOnFocus
          searchable
          selectFirstOptionOnChange
        />
      </div>
    </Section>
  );
}

interface FeatureRowProps {
  draft: FeatureDraft;
  feature: Feature | undefined;
  onChange: (part: Partial<FeatureDraft>) => void;
  onRemove: () => void;
  errorOf: (field: string) => string | undefined;
}

function FeatureRow({ draft, feature, onChange, onRemove, errorOf }: FeatureRowProps) {
  const name = feature?.name ?? 'Feature';
  return (
    <li className="row feature-row">
      <strong>{name}</strong>
      {feature?.type === 'meter' && (
        <>
          <TextInput
            aria-label={`Limit of ${name}`}
            placeholder="unlimited"
            inputMode="decimal"
            autoComplete="off"
            value={draft.usage_limit}
            onChange={({ currentTarget: { value } }) => onChange({ usage_limit: value })}
            error={errorOf('usage_limit')}
          />
          <Select
            aria-label={`${name} begins anew`}
            placeholder="in all"
            data={RESETS}
            value={draft.usage_reset_period}
            onChange={(usage_reset_period) => onChange({ usage_reset_period })}
            disabled={draft.usage_limit === ''}
            clearable
          />
          <Checkbox
            label="may go past it"
            aria-label={`${name} may go past its limit`}
            checked={draft.is_soft_limit}
            onChange={({ currentTarget: { checked } }) => onChange({ is_soft_limit: checked })}
            disabled={draft.usage_limit === ''}
          />
        </>
      )}
      {feature?.type === 'custom' && (
        <TextInput
          aria-label={`Value of ${name}`}
          placeholder="Value"
          value={draft.static_value}
          onChange={({ currentTarget: { value } }) => onChange({ static_value: value })}
          error={errorOf('static_value')}
        />
      )}
      <Switch
        label="On"
        aria-label={`${name} is on`}
        checked={draft.is_enabled}
        onChange={({ currentTarget: { checked } }) => onChange({ is_enabled: checked })}
      />
      <RowMenu label={`Actions on ${name}`} items={[{ label: 'Take out', onClick: onRemove, isDangerous: true }]} />
    </li>
  );
}
