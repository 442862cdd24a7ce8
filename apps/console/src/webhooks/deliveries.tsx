import { Button, Select } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { problemOf } from '../api/problem.ts';
import { Dialog } from '../components/dialogs/dialog.tsx';
import type { Column } from '../components/lists/data-table.tsx';
import { ListExport } from '../components/lists/list-export.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { Status, statusWord } from '../components/lists/status.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { wordsOf } from '../components/outcomes/problem-words.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Section } from '../components/page/page.tsx';
import { Time } from '../components/page/time.tsx';

type Delivery = Schema<'WebhookDelivery'>;
type Attempt = Schema<'WebhookAttempt'>;

const STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;

/** While something is to be sent, what comes of it is seen within this time. */
export const LOOK_MS = 2_000;

/** What was sent to an endpoint, and what came back. */
export function Deliveries({ endpoint }: { endpoint: Schema<'WebhookEndpoint'> }) {
  const { id } = endpoint;
  const [page, setPage] = useState(1);
  const [status, setStatus] = useState<(typeof STATUSES)[number]>();
  const [shown, setShown] = useState<Delivery>();
  const filter = { ...(status !== undefined && { status }) };
  const deliveries = useQuery({
    ...read('/api/v1/webhook-endpoints/{id}/deliveries', { path: { id }, query: { page, ...filter } }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.data.some((each) => each.status === 'PENDING') === true ? LOOK_MS : false,
  });
  const columns: Column<Delivery>[] = [
    {
      title: 'Event',
      cell: ({ type, sequence, status: now }) => (
        <>
          <code>{type}</code> {sequence !== null && <span className="muted">{sequence}</span>}
          <span className="only-phone">
            <Status of={now} />
          </span>
        </>
      ),
    },
    { title: 'Status', cell: (delivery) => <Status of={delivery.status} />, isBelowOnPhone: true },
    { title: 'Last answer', cell: ({ attempts }) => <Answered attempt={attempts.at(-1)} />, isExtra: true },
    {
      title: 'Attempts',
      cell: (delivery) => (
        <Button
          variant="subtle"
          aria-label={`${delivery.attempt_count} attempts of ${nameOf(delivery)}`}
          onClick={() => setShown(delivery)}
        >
          {delivery.attempt_count}
        </Button>
      ),
      isTight: true,
    },
    { title: 'Since', cell: ({ created_at: at }) => <Time at={at} as="ago" />, isExtra: true },
    {
      title: 'Send again',
      isTitleHidden: true,
      isTight: true,
      cell: (delivery) => (
        <AdminOnly>
          <SendAgain delivery={delivery} />
        </AdminOnly>
      ),
    },
  ];
  // As it is now, since it is looked at while it is sent again. It may leave the list meanwhile, and stays as it was then.
  const now = deliveries.data?.data.find(({ id: each }) => each === shown?.id);
  if (now !== undefined && now !== shown) setShown(now);
  return (
    <Section
      title="Deliveries"
      about="What is done with is kept for 30 days."
      actions={
        <>
          <Select
            aria-label="Status"
            placeholder="Of any status"
            data={STATUSES.map((value) => ({ value, label: statusWord(value) }))}
            value={status ?? null}
            onChange={(value) => {
              setPage(1);
              setStatus(STATUSES.find((each) => each === value));
            }}
            clearable
          />
          <ListExport
            name="deliveries"
            readPage={(part) =>
              send(
                client.GET('/api/v1/webhook-endpoints/{id}/deliveries', {
                  params: { path: { id }, query: { ...filter, ...part } },
                }),
              )
            }
          />
        </>
      }
    >
      <PagedList
        query={deliveries}
        onPage={setPage}
        label="Deliveries"
        columns={columns}
        empty={<p>Nothing yet. A test shows whether the receiver is there.</p>}
      />
      {shown !== undefined && (
        <Attempts delivery={shown} isOff={endpoint.status !== 'ACTIVE'} onClose={() => setShown(undefined)} />
      )}
    </Section>
  );
}

const nameOf = ({ type, sequence }: Delivery): string => (sequence === null ? type : `${type} ${sequence}`);

function Answered({ attempt }: { attempt: Attempt | undefined }) {
  if (attempt === undefined) return <span className="muted">None yet</span>;
  return attempt.status === null ? attempt.error : `${attempt.status} after ${attempt.ms} ms`;
}

interface AttemptsProps {
  delivery: Delivery;
  /** Whether nothing is sent to the endpoint. */
  isOff: boolean;
  onClose: () => void;
}

function Attempts({ delivery, isOff, onClose }: AttemptsProps) {
  const { attempts, next_attempt_at: next, status } = delivery;
  return (
    <Dialog title={nameOf(delivery)} onClose={onClose}>
      {attempts.length === 0 && <p className="dialog-lead">It was not sent yet.</p>}
      {attempts.toReversed().map((attempt) => (
        <div key={attempt.at} className="dialog-text">
          <p>
            <Time at={attempt.at} /> <Answered attempt={attempt} />
          </p>
          {attempt.answer !== null && attempt.answer !== '' && (
            <pre>
              <code>{attempt.answer}</code>
            </pre>
          )}
        </div>
      ))}
      {status === 'PENDING' && isOff && <p>It is sent once the endpoint is turned on.</p>}
      {next !== null && !isOff && (
        <p>
          Next attempt: <Time at={next} />
        </p>
      )}
    </Dialog>
  );
}

function SendAgain({ delivery }: { delivery: Delivery }) {
  const { id } = delivery;
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const retry = async (): Promise<void> => {
    setBusy(true);
    try {
      await send(client.POST('/api/v1/deliveries/{id}/retry', { params: { path: { id } } }));
      await invalidate(queries, '/api/v1/webhook-endpoints/{id}/deliveries');
    } catch (error) {
      notify(wordsOf(problemOf(error)).said, 'bad');
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button
      variant="subtle"
      loading={isBusy}
      aria-label={`Send again: ${nameOf(delivery)}`}
      onClick={() => void retry()}
    >
      Send again
    </Button>
  );
}
