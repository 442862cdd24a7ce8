import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Schema } from '../../api/client.ts';
import type { PageMeta } from '../../api/pages.ts';
import { formatDecimal } from '../../text/decimals.ts';
import { Icon } from '../page/icons.tsx';

export interface Column<Row> {
  /** Its heading; unique in its table. */
  title: string;
  cell: (row: Row) => ReactNode;
  /** Numbers stand at the right, so that their digits are below each other. */
  isNumber?: boolean;
  /** Left out on a phone. */
  isExtra?: boolean;
  /** Left out on a phone, where another cell says it on a second line: `<span className="only-phone">`. */
  isBelowOnPhone?: boolean;
  /** As narrow as its content. */
  isTight?: boolean;
  /** For a column of buttons: the title is only read out. */
  isTitleHidden?: boolean;
  /** What the API calls the order of this column, if it has one. */
  sort?: string;
}

/** In which order the rows are, and how another one is asked for; undefined: the list's own. */
export interface Sorting {
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
}

export interface DataTableProps<Row> {
  /** Names the table for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Said in place of a table without rows: what this would be, and how one gets one. */
  empty: ReactNode;
  /** The row that is looked at beside. */
  isSelected?: (row: Row) => boolean;
  sorting?: Sorting | undefined;
}

/** Rows lead somewhere by a Link in their first cell, which then covers the whole row. */
export function DataTable<Row>({ label, columns, rows, keyOf, empty, isSelected, sorting }: DataTableProps<Row>) {
  if (rows.length === 0) return <div className="empty">{empty}</div>;
  return (
    // It scrolls by itself where it is too wide, and can be reached by the keyboard for that.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div role="group" className="table-frame" aria-label={label} tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={classOf(column)} aria-sort={sortedBy(column, sorting)}>
                <Heading column={column} sorting={sorting} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} aria-current={isSelected?.(row) === true ? 'true' : undefined}>
              {columns.map((column) => (
                <td key={column.title} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A title; where the list can be put in order by its column, a button that does so: up, then down, then as it was. */
function Heading<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }) {
  const { title, sort, isTitleHidden } = column;
  if (isTitleHidden === true) return <span className="only-read-out">{title}</span>;
  if (sort === undefined || sorting === undefined) return title;
  const sorted = sortedBy(column, sorting);
  const next = { none: sort, ascending: `-${sort}`, descending: undefined }[sorted ?? 'none'];
  return (
    <button type="button" className="sort-button" onClick={() => sorting.onSort(next)}>
      {title}
      {sorted === 'ascending' && <Icon name="up" />}
      {sorted === 'descending' && <Icon name="down" />}
    </button>
  );
}

function sortedBy<Row>({ sort }: Column<Row>, sorting: Sorting | undefined) {
  if (sort === undefined || sorting === undefined) return undefined;
  if (sorting.sort === sort) return 'ascending';
  return sorting.sort === `-${sort}` ? 'descending' : 'none';
}

function classOf<Row>({ isNumber, isExtra, isBelowOnPhone, isTight }: Column<Row>): string {
  const names = {
    'is-number': isNumber,
    'is-extra': isExtra,
    'is-below-on-phone': isBelowOnPhone,
    'is-tight': isTight,
  };
  return Object.entries(names)
    .flatMap(([name, isSet]) => (isSet === true ? [name] : []))
    .join(' ');
}

interface PagingProps {
  meta: PageMeta | Omit<Schema<'PageMeta'>, 'next_cursor'>;
  onPage: (page: number) => void;
  /** Of the table: a page may have several. */
  label: string;
}

/** Leads through a list by pages; nothing where there is only one. */
export function Paging({ meta, onPage, label }: PagingProps) {
  if (!('total' in meta)) return null;
  const { page, page_size: size, total, total_pages: pages } = meta;
  if (total <= size && page === 1) return null;
  const first = Math.min((page - 1) * size + 1, total);
  return (
    <nav className="paging" aria-label={`Pages of ${label}`}>
      <span>
        {formatDecimal(first)}–{formatDecimal(Math.min(page * size, total))} of {formatDecimal(total)}
      </span>
      <Button
        variant="default"
        leftSection={<Icon name="left" />}
        disabled={page <= 1}
        onClick={() => onPage(Math.min(page - 1, Math.max(pages, 1)))}
      >
        Previous
      </Button>
      <Button
        variant="default"
        rightSection={<Icon name="right" />}
        disabled={page >= pages}
        onClick={() => onPage(page + 1)}
      >
        Next
      </Button>
    </nav>
  );
}
