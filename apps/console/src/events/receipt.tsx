import { ActionIcon, Button, Textarea } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { writeExact } from '../api/exact-json.ts';
import { problemOf } from '../api/problem.ts';
import { invalidate } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { CopyButton } from '../components/page/copy-button.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { useFocusBack } from '../components/dialogs/dialog.tsx';
import { Facts } from '../components/lists/facts.tsx';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { Icon } from '../components/page/icons.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { wordsOf } from '../components/outcomes/problem-words.ts';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';
import type { SearchTexts } from '../components/lists/search-texts.ts';
import { useMeters } from '../usage/meters.ts';
import { CorrectEvent } from './correct-event.tsx';
import { findEvent, replay, type EventReceipt } from './event-log.ts';
import { parseMetadata } from './metadata-text.ts';

/** While an event waits in the queue, its receipt is asked for this often. */
const WAITING_MS = 500;

/** Nothing tells that an event was rejected again as it was: so long after it was sent, that is taken for so. */
const REPLAY_MS_MAX = 10_000;

/** When an event was sent again, and its receipt before. */
interface Replayed {
  at: number;
  before: string;
}

/** What is known of an event that was sent again, while its receipt says rejected. */
type Fate = 'waiting' | 'rejected again' | undefined;

/** The receipt of one event, beside the log; a rejected one can be corrected and sent again. */
export function Receipt({ id }: { id: string }) {
  const navigate = useNavigate({ from: '/events' });
  const { isAdmin } = useSession();
  const [replayed, setReplayed] = useState<Replayed>();
  const heading = useRef<HTMLHeadingElement>(null);
  useFocusBack();
  // On a phone it stands above the list, out of sight of who has chosen one further down.
  useEffect(() => heading.current?.focus(), []);
  const receipt = useQuery({
    queryKey: ['/api/v1/events/{id}', { path: { id } }],
    queryFn: ({ signal }) => findEvent(id, signal),
    refetchInterval: ({ state: { data, dataUpdatedAt } }) =>
      data?.status === 'queued' || fateOf(replayed, data, dataUpdatedAt) === 'waiting' ? WAITING_MS : false,
  });
  return (
    <aside className="receipt" aria-label="Receipt of the event">
      <header className="section-head">
        <h2 ref={heading} tabIndex={-1}>
          Receipt
        </h2>
        <ActionIcon
          aria-label="Close the receipt"
          onClick={() => void navigate({ search: (all: SearchTexts) => ({ ...all, event: undefined }) })}
        >
          <Icon name="close" />
        </ActionIcon>
      </header>
      <Loaded query={receipt} rows={8}>
        {(event) => (
          <>
            <ReceiptFacts event={event} />
            {event.status === 'rejected' && isAdmin && (
              <Correction
                event={event}
                onReplayed={() => setReplayed({ at: Date.now(), before: writeExact(event) })}
                fate={fateOf(replayed, event, receipt.dataUpdatedAt)}
              />
            )}
            {event.status === 'recorded' && isAdmin && <CorrectEvent event={event} />}
          </>
        )}
      </Loaded>
    </aside>
  );
}

/** Its receipt says rejected until a worker has taken it, and then again, with what was sent last and why it is not counted. */
function fateOf(replayed: Replayed | undefined, event: EventReceipt | undefined, readAt: number): Fate {
  if (replayed === undefined || event?.status !== 'rejected') return undefined;
  const isAgain = writeExact(event) !== replayed.before || readAt > replayed.at + REPLAY_MS_MAX;
  return isAgain ? 'rejected again' : 'waiting';
}

function ReceiptFacts({ event }: { event: EventReceipt }) {
  const meters = useMeters();
  const meter = meters.data?.find(({ id }) => id === event.meter_id);
  return (
    <>
      {event.reason !== undefined && <p className="receipt-reason">{event.reason}</p>}
      <Facts
        of={[
          ['Status', <Status key="status" of={event.status} />],
          ['Quantity', `${formatDecimal(event.quantity)} ${meter?.unit ?? ''}`],
          ['Meter', meter?.name ?? event.meter_id],
          ['Customer', event.customer_external_id],
          ['Time', <Time key="time" at={event.timestamp} />],
          ['Received', <Time key="received" at={event.received_at} />],
          ['Idempotency key', event.idempotency_key],
          ['Duplicate of', linkTo(event.duplicate_of, 'the first event with this key')],
          ['Voided', event.correction !== undefined && <Time key="voided" at={event.correction.created_at} />],
          ['Why', event.correction?.reason],
          ['In its place', linkTo(event.correction?.amended_by, 'the event that counts')],
          ['In place of', linkTo(event.amends, 'a voided event')],
          [
            'Id',
            <span key="id" className="mono">
              {event.id} <CopyButton value={event.id} label="Copy the id" />
            </span>,
          ],
        ]}
      />
      {event.metadata !== null && <pre className="metadata">{writeExact(event.metadata, 2)}</pre>}
    </>
  );
}

/** Nothing where there is no such event. */
function linkTo(id: string | null | undefined, words: string) {
  if (id === null || id === undefined) return undefined;
  return (
    <Link from="/events" to="/events" search={(all: SearchTexts) => ({ ...all, event: id })}>
      {words}
    </Link>
  );
}

interface CorrectionProps {
  event: EventReceipt;
  onReplayed: () => void;
  fate: Fate;
}

function Correction({ event, onReplayed, fate }: CorrectionProps) {
  const queries = useQueryClient();
  const form = useForm({
    name: `replay-${event.id}`,
    initial: { metadata: writeExact(event.metadata ?? {}, 2) },
    onSubmit: async ({ metadata }) => {
      await replay(event.id, parseMetadata(metadata));
      onReplayed();
      notify('The event was sent again.');
      await invalidate(queries, '/api/v1/events', '/api/v1/events/{id}', '/api/v1/events/rejections');
    },
  });
  return (
    <FormBox form={form} submitLabel="Correct and replay">
      <Textarea
        label="Metadata"
        description="As it should have been sent. The event keeps its id and its time, and counts at most once."
        classNames={{ input: 'mono' }}
        spellCheck={false}
        minRows={3}
        {...form.field('metadata')}
      />
      {fate !== undefined && (
        <p className="muted" role="status">
          {fate === 'waiting' ? 'Sent again; waiting for what becomes of it …' : 'It is still rejected.'}
        </p>
      )}
      {event.reason?.includes('idempotency_key') === true && (
        <Button
          variant="default"
          onClick={() => {
            void replay(event.id, undefined, null).then(onReplayed, (error: unknown) =>
              notify(wordsOf(problemOf(error)).said, 'bad'),
            );
          }}
        >
          Replay without its idempotency key
        </Button>
      )}
    </FormBox>
  );
}
