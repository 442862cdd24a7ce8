import { useState } from 'react';
import { DataTable, Paging, type DataTableProps } from './data-table.tsx';

/** As many as one looks through without losing one's place. */
const ROWS_MAX = 25;

/** Rows that came in one answer, some at a time: an organization may have hundreds of meters. */
export function RowsByPage<Row>({ rows, ...table }: DataTableProps<Row>) {
  const [chosen, setPage] = useState(1);
  const pages = Math.max(Math.ceil(rows.length / ROWS_MAX), 1);
  // There may be fewer of them now.
  const page = Math.min(chosen, pages);
  const shown = rows.slice((page - 1) * ROWS_MAX, page * ROWS_MAX);
  const meta = { page, page_size: ROWS_MAX, total: rows.length, total_pages: pages };
  return (
    <>
      <DataTable {...table} rows={shown} />
      <Paging meta={meta} onPage={setPage} label={table.label} />
    </>
  );
}
