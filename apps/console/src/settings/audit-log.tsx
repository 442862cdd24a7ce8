import { Button, Select, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client, read, send, type Schema } from '../api/client.ts';
import { DataTable, type Column } from '../parts/data-table.tsx';
import { Loading } from '../parts/loading.tsx';
import { Section } from '../parts/page.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { areReversed, ReversedDates } from '../parts/reversed-dates.tsx';
import { useSearchState } from '../parts/search-state.ts';
import { Time } from '../parts/time.tsx';

type Entry = Schema<'AuditEntry'>;

const columns: Column<Entry>[] = [
  { title: 'When', cell: ({ created_at }) => <Time at={created_at} />, isTight: true },
  { title: 'Who', cell: actorOf, isTight: true },
  {
    title: 'What',
    cell: ({ action, outcome }) => (
      <>
        <code>{action}</code> {outcome === 'unknown' && <span className="status status-warn">outcome unknown</span>}
      </>
    ),
    isTight: true,
  },
  { title: 'Changes', cell: ({ changes }) => changesOf(changes), isExtra: true },
  { title: 'From', cell: ({ address }) => address ?? '–', isExtra: true, isTight: true },
];

const FILTERS = ['user', 'action', 'from', 'to'] as const;

/** Who changed what, newest first. */
export function AuditLog() {
  const { state, change } = useSearchState<(typeof FILTERS)[number]>();
  const { data: users } = useQuery(read('/api/v1/users', { query: { page_size: 100 } }));
  const query = {
    limit: 50,
    ...(state.user !== undefined && { user_id: state.user }),
    ...(state.action !== undefined && { action: state.action }),
    ...(state.from !== undefined && { start_date: state.from }),
    ...(state.to !== undefined && { end_date: state.to }),
  };
  const isReversed = areReversed(state.from, state.to);
  const log = useInfiniteQuery({
    queryKey: ['/api/v1/audit-log', query],
    initialPageParam: '',
    queryFn: ({ pageParam: cursor }) =>
      send(client.GET('/api/v1/audit-log', { params: { query: { ...query, ...(cursor !== '' && { cursor }) } } })),
    getNextPageParam: ({ meta }) => meta.next_cursor,
    enabled: !isReversed,
  });
  const { data, error, isPending, hasNextPage, isFetchingNextPage } = log;
  return (
    <Section title="Audit log" about="Every change, by whom, and from where. Secrets are never in it.">
      <div className="toolbar">
        <Select
          label="Who"
          placeholder="Anybody"
          data={(users?.data ?? []).map(({ id, email }) => ({ value: id, label: email }))}
          value={state.user ?? null}
          onChange={(user) => change({ user })}
          searchable
          clearable
        />
        <TextInput
          label="Action"
          placeholder="plan.update"
          defaultValue={state.action ?? ''}
          onBlur={({ currentTarget: { value } }) => change({ action: value.trim() })}
          onKeyDown={({ key, currentTarget: { value } }) => key === 'Enter' && change({ action: value.trim() })}
        />
        <TextInput
          type="date"
          label="From"
          value={state.from ?? ''}
          onChange={({ currentTarget: { value } }) => change({ from: value })}
        />
        <TextInput
          type="date"
          label="To"
          value={state.to ?? ''}
          onChange={({ currentTarget: { value } }) => change({ to: value })}
        />
      </div>
      {isReversed && <ReversedDates />}
      {isPending && !isReversed && <Loading rows={8} />}
      <ProblemBox error={error} />
      {data !== undefined && (
        <DataTable
          label="Audit log"
          columns={columns}
          rows={data.pages.flatMap((page) => page.data)}
          keyOf={({ id }) => id}
          empty="No such change."
        />
      )}
      {hasNextPage && (
        <Button variant="default" mt="sm" loading={isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          Earlier changes
        </Button>
      )}
    </Section>
  );
}

function actorOf({ actor }: Entry): string {
  if (actor.type === 'operator') return 'operator';
  return actor.email ?? (actor.type === 'api_key' ? `API key ${actor.id ?? ''}` : 'a person who is gone');
}

function changesOf(changes: Entry['changes']) {
  if (changes === null || Object.keys(changes).length === 0) return '–';
  const short = Object.entries(changes)
    .map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
    .join(', ');
  return <span className="changes">{short}</span>;
}
