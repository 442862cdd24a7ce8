import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { totalOf, type PageMeta } from '../../api/pages.ts';
import { type Column, DataTable, Paging, type Sorting } from './data-table.tsx';
import { Loaded } from '../outcomes/loaded.tsx';

interface Answer<Row> {
  data: readonly Row[];
  meta: PageMeta;
}

interface PagedListProps<Row> {
  query: UseQueryResult<Answer<Row>, unknown>;
  onPage: (page: number) => void;
  label: string;
  columns: readonly Column<Row>[];
  empty: ReactNode;
  sorting?: Sorting | undefined;
}

/** A list of the API that comes by pages. */
export function PagedList<Row extends { id: string }>(props: PagedListProps<Row>) {
  const { query, onPage, label, columns, empty, sorting } = props;
  return (
    <Loaded query={query} rows={8}>
      {({ data, meta }) => (
        <>
          <DataTable
            label={label}
            columns={columns}
            rows={data}
            keyOf={({ id }) => id}
            empty={totalOf(meta) > 0 ? 'Nothing on this page any more.' : empty}
            sorting={sorting}
          />
          <Paging meta={meta} onPage={onPage} label={label} />
        </>
      )}
    </Loaded>
  );
}
