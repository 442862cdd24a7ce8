import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { read, type Schema } from '../api/client.ts';
import { PAGE_SIZE_MAX } from '../api/limits.ts';
import { DateField } from '../components/forms/date-field.tsx';
import { addDays, isDay, startOfDay } from '../text/instants.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Page } from '../components/page/page.tsx';
import { areReversed, ReversedDates } from '../components/forms/reversed-dates.tsx';
import { useSearchState, useSorting } from '../components/lists/search-state.ts';
import { SearchField } from '../components/lists/search-field.tsx';
import { CustomerSelect } from '../customers/customer-select.tsx';
import { LinesExport } from './lines-export.tsx';
import { INVOICE_SORTS, InvoiceList, InvoicesExport } from './invoice-list.tsx';

/** Open ones whose due date has ended are chosen like a status, and are none of their own. */
const PAST_DUE = 'PAST_DUE';

const CHOICES = [
  { value: 'DRAFT', label: 'draft' },
  { value: 'OPEN', label: 'open' },
  { value: PAST_DUE, label: 'past due' },
  { value: 'PAID', label: 'paid' },
  { value: 'VOID', label: 'void' },
  { value: 'UNCOLLECTIBLE', label: 'uncollectible' },
];

/** Which of its days the dates are compared with. The last one of its period, where nothing is said. */
const DAYS = [
  { value: 'period', label: 'last day of the period' },
  { value: 'issue', label: 'issue date' },
];

export function InvoicesPage() {
  const { state, change, page, setPage } = useSearchState<'status' | 'by' | 'from' | 'to' | 'customer' | 'search'>();
  const billing = useQuery(read('/api/v1/billing/settings'));
  const isPastDue = state.status === PAST_DUE;
  const status = isPastDue ? undefined : (state.status as Schema<'Invoice'>['status'] | undefined);
  const { sorting, sorted } = useSorting(status === 'DRAFT' ? [] : INVOICE_SORTS);
  // Drafts have no issue date.
  const isByIssueDate = state.by === 'issue' && status !== 'DRAFT';
  const days = isByIssueDate ? issueDatesOf(state) : instantsOf(state, billing.data?.time_zone);
  const customer = state.customer === undefined ? {} : { customer_id: state.customer };
  const filter = {
    page,
    ...sorted,
    ...(status !== undefined && { status }),
    ...(isPastDue && { is_past_due: 'true' as const }),
    ...(state.search !== undefined && { search: state.search }),
    ...customer,
    ...days,
  };
  const isSearched = state.search !== undefined;
  const isReversed = areReversed(state.from, state.to);
  // Without its zone it is not known when a day begins.
  const isOfLastDays = !isByIssueDate && (state.from ?? state.to) !== undefined;
  const isUnknown = isOfLastDays && billing.data === undefined;
  const content = () => {
    if (isReversed) return <ReversedDates />;
    if (isUnknown) return <Loaded query={billing}>{() => null}</Loaded>;
    // A page of drafts is finalized with one click.
    const shown = status === 'DRAFT' ? { ...filter, page_size: PAGE_SIZE_MAX } : filter;
    return <InvoiceList filter={shown} onPage={setPage} {...(status !== 'DRAFT' && { sorting })} />;
  };
  const { page: _, ...list } = filter;
  const lines = {
    ...customer,
    ...days,
    ...(status !== undefined && status !== 'DRAFT' && { status }),
    ...(isPastDue && { is_past_due: 'true' as const }),
  };
  return (
    <Page
      title="Invoices"
      about="Made at the end of each period. Drafts show what is used up to now."
      actions={
        // A file has what is shown, or there is none.
        !isReversed &&
        !isUnknown && (
          <>
            {status !== 'DRAFT' && !isSearched && <LinesExport filter={lines} />}
            <InvoicesExport filter={list} />
          </>
        )
      }
    >
      <div className="toolbar">
        <SearchField
          label="Number"
          placeholder="How it begins"
          value={state.search}
          onSearch={(search) => change({ search })}
          isLabelShown
        />
        <CustomerSelect
          value={state.customer ?? null}
          onChange={(chosen) => change({ customer: chosen })}
          isClearable
        />
        <Select
          label="Status"
          placeholder="Any"
          data={CHOICES}
          value={state.status ?? null}
          onChange={(value) => change({ status: value })}
          clearable
        />
        {status !== 'DRAFT' && (
          <Select
            label="Dates are of"
            data={DAYS}
            value={state.by ?? 'period'}
            onChange={(value) => change({ by: value === 'issue' ? value : null })}
            allowDeselect={false}
          />
        )}
        <DateField
          label={isByIssueDate ? 'Issued from' : 'Last day from'}
          placeholder="Any"
          value={state.from ?? ''}
          onChange={(day) => (day === '' || isDay(day)) && change({ from: day })}
        />
        <DateField
          label="To"
          placeholder="Any"
          value={state.to ?? ''}
          onChange={(day) => (day === '' || isDay(day)) && change({ to: day })}
        />
      </div>
      {isOfLastDays && billing.data !== undefined && (
        <p className="muted">
          Last days are compared in {billing.data.time_zone}. A row shows them in the zone of its subscription: one of
          another zone may be found by the day before or after its own. Issue dates are the same everywhere.
        </p>
      )}
      {content()}
    </Page>
  );
}

/** Dates as the API takes them, which ends before the second one. */
function issueDatesOf({ from, to }: { from?: string; to?: string }) {
  return {
    ...(from !== undefined && isDay(from) && { issued_from: from }),
    ...(to !== undefined && isDay(to) && { issued_to: addDays(to, 1) }),
  };
}

/**
 * The API compares instants with the end of a period, which is the first one of the next: a period whose last day is the 30th ends
 * after its first millisecond, and no later than the 31st begins.
 */
function instantsOf({ from, to }: { from?: string; to?: string }, zone: string | undefined) {
  if (zone === undefined) return {};
  const after = (date: string): string => new Date(Date.parse(startOfDay(date, zone)) + 1).toISOString();
  return {
    ...(from !== undefined && isDay(from) && { from: after(from) }),
    ...(to !== undefined && isDay(to) && { to: after(addDays(to, 1)) }),
  };
}
