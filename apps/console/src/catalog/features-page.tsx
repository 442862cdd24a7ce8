import { Button, Select, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { AdminOnly } from '../parts/admin-only.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { DataTable, type Column } from '../parts/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { useSearchState } from '../parts/search-state.ts';
import { FeatureForm } from './feature-form.tsx';

type Feature = Schema<'Feature'>;

const TYPES = ['meter', 'switch', 'custom'] as const;

export function FeaturesPage() {
  const queries = useQueryClient();
  const { state, change } = useSearchState<'type' | 'search'>();
  const [dialog, setDialog] = useState<'new' | Feature>();
  const features = useQuery(read('/api/v1/features'));
  const remove = async ({ id }: Feature) => {
    await send(client.DELETE('/api/v1/features/{id}', { params: { path: { id } } }));
    await invalidate(queries, '/api/v1/features', '/api/v1/meters');
  };
  const columns: Column<Feature>[] = [
    {
      title: 'Name',
      cell: ({ name, meter_id }) =>
        meter_id === null ? (
          name
        ) : (
          <Link to="/meters/$meterId" params={{ meterId: meter_id }} className="row-link">
            {name}
          </Link>
        ),
    },
    { title: 'Lookup key', cell: ({ lookup_key }) => <code>{lookup_key}</code>, isExtra: true },
    {
      title: 'Type',
      cell: ({ type, aggregation_type, unit }) =>
        type === 'meter' ? `${aggregation_type}${unit === null ? '' : ` of ${unit}`}` : type,
    },
    {
      title: 'Meter token',
      cell: ({ meter_token }) =>
        meter_token !== null && (
          <span className="with-button">
            <code>{meter_token}</code> <CopyButton value={meter_token} label="Copy the meter token" />
          </span>
        ),
      isExtra: true,
    },
    { title: 'Plans', cell: ({ plan_count }) => plan_count, isNumber: true },
    {
      title: 'Changes',
      isTitleHidden: true,
      isTight: true,
      cell: (feature) => (
        <AdminOnly>
          <span className="row-actions">
            <Button variant="subtle" aria-label={`Change ${feature.name}`} onClick={() => setDialog(feature)}>
              Change
            </Button>
            <Confirm
              label="Delete"
              title={`Delete ${feature.name}?`}
              onConfirm={() => remove(feature)}
              isDangerous
              trigger={(open) => (
                <Button variant="subtle" color="red" aria-label={`Delete ${feature.name}`} onClick={open}>
                  Delete
                </Button>
              )}
            >
              Its meter takes no more events then; what it has counted stays. A feature of a plan cannot be deleted.
            </Confirm>
          </span>
        </AdminOnly>
      ),
    },
  ];
  const search = (state.search ?? '').toLowerCase();
  const isShown = ({ name, lookup_key, type }: Feature) =>
    (state.type === undefined || type === state.type) &&
    (name.toLowerCase().includes(search) || lookup_key.includes(search));
  return (
    <Page
      title="Features and meters"
      about="What plans can include. Behind a feature of type meter stands a meter, which counts usage."
      actions={
        <AdminOnly>
          <Button onClick={() => setDialog('new')}>New feature</Button>
        </AdminOnly>
      }
    >
      <div className="toolbar">
        <TextInput
          type="search"
          aria-label="Search features"
          placeholder="Search"
          value={state.search ?? ''}
          onChange={({ currentTarget: { value } }) => change({ search: value })}
        />
        <Select
          aria-label="Type"
          placeholder="Any type"
          data={TYPES}
          value={state.type ?? null}
          onChange={(type) => change({ type })}
          clearable
        />
      </div>
      <Loaded query={features} rows={8}>
        {({ data }) => (
          <DataTable
            label="Features and meters"
            columns={columns}
            rows={data.filter(isShown)}
            keyOf={({ id }) => id}
            empty={
              data.length === 0
                ? 'No feature yet. One of type meter gives you the token that your services track usage with.'
                : 'No feature like this.'
            }
          />
        )}
      </Loaded>
      {dialog !== undefined && (
        <FeatureForm feature={dialog === 'new' ? undefined : dialog} onClose={() => setDialog(undefined)} />
      )}
    </Page>
  );
}
