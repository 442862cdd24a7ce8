import { Select, TextInput } from '@mantine/core';
import type { Schema } from '../api/client.ts';
import { Page } from '../parts/page.tsx';
import { areReversed, ReversedDates } from '../parts/reversed-dates.tsx';
import { useSearchState } from '../parts/search-state.ts';
import { LinesExport } from './lines-export.tsx';
import { InvoiceList } from './invoice-list.tsx';

const STATUSES = ['DRAFT', 'OPEN', 'PAID', 'VOID', 'UNCOLLECTIBLE'] as const;

export function InvoicesPage() {
  const { state, change, page, setPage } = useSearchState<'status' | 'from' | 'to'>();
  const status = state.status as Schema<'Invoice'>['status'] | undefined;
  const filter = {
    page,
    ...(status !== undefined && { status }),
    ...(state.from !== undefined && { from: state.from }),
    ...(state.to !== undefined && { to: state.to }),
  };
  const { page: _, status: __, ...times } = filter;
  const lines = { ...times, ...(status !== undefined && status !== 'DRAFT' && { status }) };
  return (
    <Page
      title="Invoices"
      about="Made at the end of each period. Drafts show what is used up to now."
      actions={status !== 'DRAFT' && <LinesExport filter={lines} />}
    >
      <div className="toolbar">
        <Select
          label="Status"
          placeholder="Any"
          data={STATUSES.map((value) => ({ value, label: value.toLowerCase() }))}
          value={status ?? null}
          onChange={(value) => change({ status: value })}
          clearable
        />
        <TextInput
          type="date"
          label="Period ends from"
          value={state.from ?? ''}
          onChange={({ currentTarget: { value } }) => change({ from: value })}
        />
        <TextInput
          type="date"
          label="and before"
          value={state.to ?? ''}
          onChange={({ currentTarget: { value } }) => change({ to: value })}
        />
      </div>
      {areReversed(state.from, state.to) ? <ReversedDates /> : <InvoiceList filter={filter} onPage={setPage} />}
    </Page>
  );
}
