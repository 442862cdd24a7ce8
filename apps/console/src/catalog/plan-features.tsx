// The features of a plan: the limits of metered features, and switches and values of the others.

import { Button, Select, Switch, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Confirm } from '../components/dialogs/confirm.tsx';
import type { Column } from '../components/lists/data-table.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useForm } from '../components/forms/form.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Section } from '../components/page/page.tsx';
import { RowsByPage } from '../components/lists/rows-by-page.tsx';
import { plainDecimal } from '../text/typed-text.ts';

type Plan = Schema<'PlanWithFeatures'>;
type PlanFeature = Plan['features'][number];
type Feature = Schema<'Feature'>;

const RESETS = ['hour', 'day', 'week', 'month', 'year'] as const;

export function PlanFeatures({ plan }: { plan: Plan }) {
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<'new' | PlanFeature>();
  const catalog = useQuery(read('/api/v1/features'));
  const features = catalog.data?.data ?? [];
  const nameOf = (id: string) => features.find((feature) => feature.id === id)?.name ?? 'Feature';
  const takeOut = async ({ feature_id }: PlanFeature) => {
    const path = { id: plan.id, feature_id };
    await send(client.DELETE('/api/v1/plans/{id}/features/{feature_id}', { params: { path } }));
    await invalidate(queries, '/api/v1/plans/{id}', '/api/v1/features');
  };
  const columns: Column<PlanFeature>[] = [
    { title: 'Feature', cell: ({ feature_id }) => nameOf(feature_id) },
    { title: 'What the plan gives', cell: describeLimit },
    {
      title: 'Changes',
      isTitleHidden: true,
      isTight: true,
      cell: (each) => (
        <AdminOnly>
          <span className="row-actions">
            <Button variant="subtle" aria-label={`Edit ${nameOf(each.feature_id)}`} onClick={() => setDialog(each)}>
              Edit
            </Button>
            <Confirm
              label="Take out"
              title={`Take ${nameOf(each.feature_id)} out of ${plan.name}?`}
              onConfirm={() => takeOut(each)}
              isDangerous
              trigger={(open) => (
                <Button variant="subtle" color="red" aria-label={`Take out ${nameOf(each.feature_id)}`} onClick={open}>
                  Take out
                </Button>
              )}
            >
              Customers of the plan lose it at once.
            </Confirm>
          </span>
        </AdminOnly>
      ),
    },
  ];
  const left = features.filter(({ id }) => plan.features.every(({ feature_id }) => feature_id !== id));
  return (
    <Section
      title="Features and limits"
      actions={
        <AdminOnly>
          <Button variant="default" onClick={() => setDialog('new')} disabled={left.length === 0}>
            Include a feature
          </Button>
        </AdminOnly>
      }
    >
      <Loaded query={catalog} rows={3}>
        {() => (
          <RowsByPage
            label="Features and limits"
            columns={columns}
            rows={plan.features}
            keyOf={({ feature_id }) => feature_id}
            empty="The plan includes no feature: whoever asks for entitlements is told that its customers may use none."
          />
        )}
      </Loaded>
      {dialog !== undefined && (
        <LimitForm
          plan={plan}
          features={dialog === 'new' ? left : features}
          included={dialog === 'new' ? undefined : dialog}
          onClose={() => setDialog(undefined)}
        />
      )}
    </Section>
  );
}

function describeLimit(feature: PlanFeature): string {
  const { is_enabled, usage_limit, usage_reset_period, is_soft_limit, static_value } = feature;
  if (!is_enabled) return 'off';
  if (static_value !== null) return static_value;
  if (usage_limit === null) return 'unlimited';
  const reset = usage_reset_period === null ? 'in all' : `each ${usage_reset_period}`;
  return `${formatDecimal(usage_limit)} ${reset}${is_soft_limit ? ', may go past it' : ''}`;
}

interface LimitFormProps {
  plan: Plan;
  features: readonly Feature[];
  included: PlanFeature | undefined;
  onClose: () => void;
}

function LimitForm({ plan, features, included, onClose }: LimitFormProps) {
  const queries = useQueryClient();
  const form = useForm({
    initial: {
      feature_id: included?.feature_id ?? null,
      is_enabled: included?.is_enabled ?? true,
      usage_limit: included?.usage_limit ?? '',
      usage_reset_period: included?.usage_reset_period ?? null,
      is_soft_limit: included?.is_soft_limit ?? false,
      static_value: included?.static_value ?? '',
    },
    async onSubmit({ feature_id, is_enabled, usage_limit, usage_reset_period, is_soft_limit, static_value }) {
      const body = {
        is_enabled,
        usage_limit: type === 'meter' && usage_limit.trim() !== '' ? limitOf(plainDecimal(usage_limit)) : null,
        usage_reset_period: type === 'meter' ? usage_reset_period : null,
        is_soft_limit: type === 'meter' && is_soft_limit,
        static_value: type === 'custom' ? static_value.trim() || null : null,
      };
      const id = plan.id;
      await (included === undefined
        ? send(
            client.POST('/api/v1/plans/{id}/features', {
              params: { path: { id } },
              body: { ...body, feature_id: feature_id as string },
            }),
          )
        : send(
            client.PATCH('/api/v1/plans/{id}/features/{feature_id}', {
              params: { path: { id, feature_id: included.feature_id } },
              body,
            }),
          ));
      await invalidate(queries, '/api/v1/plans/{id}', '/api/v1/features');
      onClose();
    },
  });
  const type = features.find(({ id }) => id === form.values.feature_id)?.type;
  return (
    <FormDialog
      title={included === undefined ? 'Include a feature' : 'Edit what the plan gives'}
      submitLabel="Save"
      form={form}
      onClose={onClose}
    >
      <Select
        label="Feature"
        data={features.map(({ id, name }) => ({ value: id, label: name }))}
        limit={100}
        nothingFoundMessage="No such feature"
        disabled={included !== undefined}
        searchable
        required
        {...form.field('feature_id')}
      />
      {type === 'meter' && (
        <div className="form-row">
          <TextInput label="Limit" placeholder="unlimited" inputMode="decimal" {...form.field('usage_limit')} />
          <Select
            label="Begins anew each"
            placeholder="never"
            data={RESETS}
            clearable
            {...form.field('usage_reset_period')}
          />
        </div>
      )}
      {type === 'meter' && <Switch label="Usage may go past the limit" {...form.checkbox('is_soft_limit')} />}
      {type === 'custom' && <TextInput label="Value" {...form.field('static_value')} />}
      <Switch label="On" {...form.checkbox('is_enabled')} />
    </FormDialog>
  );
}

/** The API takes limits as JSON numbers. What a number would change is sent as text: it is refused, and not changed. */
function limitOf(text: string): number {
  const number = Number(text);
  return (String(number) === text ? number : text) as number;
}
