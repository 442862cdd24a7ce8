import { Button, Select } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client, send, type Schema } from '../api/client.ts';
import type { paths } from '../api/openapi.d.ts';
import { invalidate } from '../api/queries.ts';
import { ToChange } from '../components/forms/to-change.tsx';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { CopyButton } from '../components/page/copy-button.tsx';
import type { Column } from '../components/lists/data-table.tsx';
import { ListExport } from '../components/lists/list-export.tsx';
import { Page } from '../components/page/page.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { SearchField } from '../components/lists/search-field.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { useSearchState, useSorting } from '../components/lists/search-state.ts';
import { FeatureForm } from './feature-form.tsx';

type Feature = Schema<'Feature'>;

const PAGE_SIZE = 25;

const TYPES = ['meter', 'switch', 'custom'] as const;

type Asked = NonNullable<paths['/api/v1/features']['get']['parameters']['query']>;

async function readPage(query: Asked, signal?: AbortSignal) {
  const { data, meta } = await send(
    client.GET('/api/v1/features', { params: { query }, ...(signal !== undefined && { signal }) }),
  );
  // It is there where a page is asked for.
  return { data, meta: meta ?? { next_cursor: null } };
}

export function FeaturesPage() {
  const queries = useQueryClient();
  const { state, change, page, setPage } = useSearchState<'type' | 'search'>();
  const [dialog, setDialog] = useState<'new' | Feature>();
  const type = TYPES.find((each) => each === state.type);
  const { sorting, sorted } = useSorting(['name', '-name']);
  const filter = {
    ...sorted,
    ...(state.search !== undefined && { search: state.search }),
    ...(type !== undefined && { type }),
  };
  const query = { page, page_size: PAGE_SIZE, ...filter };
  const features = useQuery({
    queryKey: ['/api/v1/features', 'page', query],
    queryFn: ({ signal }) => readPage(query, signal),
    placeholderData: keepPreviousData,
  });
  const remove = async ({ id }: Feature) => {
    await send(client.DELETE('/api/v1/features/{id}', { params: { path: { id } } }));
    await invalidate(queries, '/api/v1/features', '/api/v1/meters');
  };
  const columns: Column<Feature>[] = [
    {
      title: 'Name',
      sort: 'name',
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
      title: 'Actions',
      isTitleHidden: true,
      isTight: true,
      cell: (feature) => (
        <AdminOnly>
          <Confirm
            label="Delete"
            title={`Delete ${feature.name}?`}
            onConfirm={() => remove(feature)}
            isDangerous
            trigger={(open) => (
              <RowMenu
                label={`Actions on ${feature.name}`}
                items={[
                  { label: 'Edit', onClick: () => setDialog(feature) },
                  { label: 'Delete', onClick: open, isDangerous: true },
                ]}
              />
            )}
          >
            {feature.type === 'meter' && 'Its meter takes no more events then; what it has counted stays. '}A feature of
            a plan, or with a price, cannot be deleted.
          </Confirm>
        </AdminOnly>
      ),
    },
  ];
  const isFiltered = state.search !== undefined || type !== undefined;
  return (
    <Page
      title="Features and meters"
      about="What plans can include. Behind a feature of type meter stands a meter, which counts usage."
      actions={
        <>
          <ListExport name="features" readPage={(part) => readPage({ ...filter, ...part })} />
          <AdminOnly>
            <Button onClick={() => setDialog('new')}>New feature</Button>
          </AdminOnly>
        </>
      }
    >
      <div className="toolbar">
        <SearchField
          label="Search features"
          placeholder="Name or lookup key"
          value={state.search}
          onSearch={(search) => change({ search })}
        />
        <Select
          aria-label="Type"
          placeholder="Any type"
          data={TYPES}
          value={type ?? null}
          onChange={(chosen) => change({ type: chosen })}
          clearable
        />
      </div>
      <PagedList
        query={features}
        onPage={setPage}
        label="Features and meters"
        columns={columns}
        sorting={sorting}
        empty={
          isFiltered
            ? 'No feature like this.'
            : 'No feature yet. One of type meter gives you the token that your services track usage with.'
        }
      />
      {dialog === 'new' && <FeatureForm onClose={() => setDialog(undefined)} />}
      {typeof dialog === 'object' && (
        <ToChange path="/api/v1/features/{id}" params={{ path: { id: dialog.id } }}>
          {(opened) => <FeatureForm opened={opened} onClose={() => setDialog(undefined)} />}
        </ToChange>
      )}
    </Page>
  );
}
