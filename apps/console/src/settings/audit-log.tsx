import { Button, Select, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client, read, send } from '../api/client.ts';
import { PAGE_SIZE_MAX } from '../api/limits.ts';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { ListExport } from '../components/lists/list-export.tsx';
import { DateField } from '../components/forms/date-field.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { isDay } from '../text/instants.ts';
import { nothingFound } from '../components/outcomes/nothing-found.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Section } from '../components/page/page.tsx';
import { areReversed, ReversedDates } from '../components/forms/reversed-dates.tsx';
import { useTyped } from '../components/forms/use-typed.ts';
import { useSearchState } from '../components/lists/search-state.ts';
import { Time } from '../components/page/time.tsx';
import { actionWords, placeOf, sentFields, type AuditEntry } from './audit-words.ts';

const columnsIn = (zone: string): Column<AuditEntry>[] => [
  { title: 'When', cell: ({ created_at }) => <Time at={created_at} zone={zone} />, isTight: true },
  { title: 'Who', cell: (entry) => <Who entry={entry} />, isTight: true, isBelowOnPhone: true },
  {
    title: 'What',
    cell: (entry) => (
      <>
        <span className="only-phone">
          <Who entry={entry} />
        </span>
        {actionWords(entry.action)} <PlaceOf entry={entry} />{' '}
        {entry.outcome === 'unknown' && <span className="status status-warn">it is not known whether it was done</span>}
        <Changes entry={entry} zone={zone} />
      </>
    ),
  },
  { title: 'From', cell: ({ address }) => address ?? '–', isExtra: true, isTight: true },
];

const FILTERS = ['actor', 'action', 'from', 'to'] as const;

/** Who changed what, newest first. */
export function AuditLog() {
  const { state, change } = useSearchState<(typeof FILTERS)[number]>();
  const [action, setAction] = useTyped(state.action ?? '');
  const billing = useQuery(read('/api/v1/billing/settings'));
  // Who is not among the first is chosen by an entry of theirs.
  const users = useQuery(read('/api/v1/users', { query: { page_size: PAGE_SIZE_MAX } }));
  const filter = {
    ...(state.actor !== undefined && { actor_id: state.actor }),
    ...(state.action !== undefined && { action: state.action }),
    ...(state.from !== undefined && { start_date: state.from }),
    ...(state.to !== undefined && { end_date: state.to }),
  };
  const query = { limit: 50, ...filter };
  const isReversed = areReversed(state.from, state.to);
  const log = useInfiniteQuery({
    queryKey: ['/api/v1/audit-log', query],
    initialPageParam: '',
    queryFn: ({ pageParam: cursor }) =>
      send(client.GET('/api/v1/audit-log', { params: { query: { ...query, ...(cursor !== '' && { cursor }) } } })),
    getNextPageParam: ({ meta }) => meta.next_cursor,
    enabled: !isReversed,
  });
  const { data, hasNextPage, isFetchingNextPage } = log;
  // What stands below the table comes with it, and does not give way to it.
  const isShown = data !== undefined && billing.data !== undefined;
  const entries = data?.pages.flatMap((page) => page.data) ?? [];
  const keptDays = data?.pages[0]?.kept_days ?? null;
  const people = (users.data?.data ?? []).map(({ id, email }) => ({ value: id, label: email }));
  // Somebody who is not among the first people was chosen by one of the entries.
  const chosen = people.some(({ value }) => value === state.actor) ? [] : entries.slice(0, 1).map(optionOf);
  return (
    <Section
      title="Audit log"
      about="Every change, by whom, and from where. Secrets are never in it. Times are in the zone of the organization."
      actions={
        !isReversed && (
          <ListExport
            name="audit-log"
            readPage={(part) => send(client.GET('/api/v1/audit-log', { params: { query: { ...filter, ...part } } }))}
          />
        )
      }
    >
      <div className="toolbar">
        <Select
          label="Who"
          placeholder="Anybody"
          data={state.actor === undefined ? people : [...people, ...chosen]}
          value={state.actor ?? null}
          onChange={(actor) => change({ actor })}
          nothingFoundMessage={nothingFound(users, 'Nobody of that name')}
          searchable
          clearable
        />
        <TextInput
          label="Action"
          placeholder="plan.update"
          value={action}
          onChange={({ currentTarget: { value } }) => setAction(value)}
          onBlur={() => change({ action: action.trim() })}
          onKeyDown={({ key }) => key === 'Enter' && change({ action: action.trim() })}
        />
        <DateField
          label="From"
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
      {isReversed && <ReversedDates />}
      {!isReversed && (
        <Loaded query={billing} rows={8}>
          {({ time_zone: zone }) => (
            <Loaded query={log} rows={8}>
              {() => (
                <DataTable
                  label="Audit log"
                  columns={columnsIn(zone)}
                  rows={entries}
                  keyOf={({ id }) => id}
                  empty="No such change."
                />
              )}
            </Loaded>
          )}
        </Loaded>
      )}
      {isShown && hasNextPage && (
        <Button variant="default" mt="sm" loading={isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          Earlier changes
        </Button>
      )}
      {isShown && !hasNextPage && keptDays !== null && (
        <p className="muted">Changes are kept for {formatDecimal(keptDays)} days.</p>
      )}
    </Section>
  );
}

/** A name, which leads to all that this one did. */
function Who({ entry }: { entry: AuditEntry }) {
  const { id } = entry.actor;
  if (id === null) return actorOf(entry);
  return (
    <Link to="." search={(search: Record<string, unknown>) => ({ ...search, actor: id })} title="All of these">
      {actorOf(entry)}
    </Link>
  );
}

function optionOf(entry: AuditEntry) {
  return { value: entry.actor.id ?? '', label: actorOf(entry) };
}

function actorOf({ actor }: AuditEntry): string {
  if (actor.type === 'operator') return 'operator';
  return actor.name ?? actor.email ?? (actor.type === 'api_key' ? `API key ${actor.id ?? ''}` : 'a person who is gone');
}

function PlaceOf({ entry }: { entry: AuditEntry }) {
  const place = placeOf(entry);
  if (place === undefined) return null;
  return (
    <Link to={place.to} search={place.search ?? {}}>
      {place.label}
    </Link>
  );
}

function Changes({ entry, zone }: { entry: AuditEntry; zone: string }) {
  const fields = sentFields(entry, zone);
  if (fields.length === 0) return null;
  return (
    <dl className="changes">
      {fields.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}: </dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
