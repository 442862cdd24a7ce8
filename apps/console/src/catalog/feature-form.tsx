import { Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { client, send, type Opened, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { ChangedId } from '../components/forms/changed-id.tsx';
import { useForm } from '../components/forms/form.tsx';
import { slugOf } from '../text/typed-text.ts';
import { EXACT_CHOICES, type Aggregation } from '../usage/aggregations.ts';

type Feature = Schema<'Feature'>;

const TYPES = [
  { value: 'meter', label: 'Meter: counts usage' },
  { value: 'switch', label: 'Switch: on or off' },
  { value: 'custom', label: 'Custom: a value of your own' },
];

/** What services do by the lookup key. */
const USES: Record<Feature['type'], string> = {
  meter: 'track usage or ask for entitlements',
  switch: 'ask for entitlements',
  custom: 'ask for entitlements',
};

interface Values {
  name: string;
  lookup_key: string;
  type: Feature['type'];
  aggregation_type: Aggregation;
  unit: string;
}

interface FeatureFormProps {
  /** The feature to change; without it, a new one is made. */
  opened?: Opened<Feature>;
  onClose: () => void;
}

const valuesOf = (feature: Feature | undefined): Values => ({
  name: feature?.name ?? '',
  lookup_key: feature?.lookup_key ?? '',
  type: feature?.type ?? 'meter',
  aggregation_type: feature?.aggregation_type ?? 'SUM',
  unit: feature?.unit ?? '',
});

export function FeatureForm({ opened, onClose }: FeatureFormProps) {
  const queries = useQueryClient();
  const feature = opened?.data;
  const form = useForm<Values>({
    ...(feature === undefined && { name: 'feature' }),
    initial: valuesOf(feature),
    reload: opened && (async () => valuesOf(await opened.reload())),
    async onSubmit({ name, lookup_key, type, aggregation_type, unit: typed }) {
      const unit = typed.trim() || null;
      const names = { name: name.trim(), lookup_key: lookup_key.trim() };
      if (opened !== undefined) {
        const body = { ...names, ...(type === 'meter' && { unit }) };
        const path = { id: opened.data.id };
        await opened.change((PATCH) => PATCH('/api/v1/features/{id}', { params: { path }, body }));
      } else if (type === 'meter') {
        await send(client.POST('/api/v1/features', { body: { ...names, type, aggregation_type, unit } }));
      } else {
        await send(client.POST('/api/v1/features', { body: { ...names, type } }));
      }
      await invalidate(queries, '/api/v1/features', '/api/v1/meters', '/api/v1/meters/{id}');
      onClose();
    },
  });
  const { values } = form;
  const isNew = feature === undefined;
  return (
    <FormDialog
      title={isNew ? 'New feature' : `Edit ${feature.name}`}
      submitLabel={isNew ? 'Create feature' : 'Save'}
      form={form}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        {...form.field('name')}
        onChange={({ currentTarget: { value } }) => {
          form.set('name', value);
          // The key of a new feature goes with its name, unless somebody has given it one.
          if (isNew && values.lookup_key === slugOf(values.name)) form.set('lookup_key', slugOf(value));
        }}
        required
        data-autofocus
      />
      <TextInput
        label="Lookup key"
        description={`By which your services ${USES[values.type]}`}
        {...form.field('lookup_key')}
        required
      />
      <ChangedId before={feature?.lookup_key} typed={values.lookup_key}>
        Once this is saved, services that {USES[values.type]} by <code>{feature?.lookup_key}</code> are refused until
        they send the new key. Change them at the same time.
      </ChangedId>
      {isNew && <Select label="Type" data={TYPES} allowDeselect={false} {...form.field('type')} />}
      {values.type === 'meter' && isNew && (
        <Select
          label="Aggregation"
          description="How events become a number; it cannot be changed later"
          data={EXACT_CHOICES}
          allowDeselect={false}
          {...form.field('aggregation_type')}
        />
      )}
      {values.type === 'meter' && (
        <TextInput label="Unit" description="What a quantity counts, such as tokens" {...form.field('unit')} />
      )}
    </FormDialog>
  );
}
