import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, send } from '../api/client.ts';
import { CORRECTIONS_MAX, PAGE_SIZE_MAX } from '../api/limits.ts';
import { problemOf } from '../api/problem.ts';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { FormBox, NOT_SENT, useForm } from '../components/forms/form.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { isSeen } from '../components/forms/is-seen.ts';
import { notify } from '../components/outcomes/notices.tsx';
import { Time } from '../components/page/time.tsx';
import { formatCount, formatDecimal } from '../text/decimals.ts';
import { listEvents, type EventFilter, type EventReceipt } from './event-log.ts';
import { usePreviewOfCorrections, WhatItDoes } from './what-it-does.tsx';

/** Takes all recorded events that a filter finds out of the count, once one has seen what that does. */
export function VoidMany({ filter }: { filter: EventFilter }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" color="red" onClick={() => setOpen(true)}>
        Void these events
      </Button>
      {isOpen && <VoidDialog filter={filter} onClose={() => setOpen(false)} />}
    </>
  );
}

interface Found {
  ids: string[];
  /** The times of the earliest and of the latest of them. */
  first: string;
  last: string;
  /** Whether there are more than one request takes. */
  hasMore: boolean;
}

async function findAll(filter: EventFilter, signal: AbortSignal): Promise<Found> {
  const events: EventReceipt[] = [];
  for (let cursor: string | undefined; ;) {
    const query = {
      ...filter,
      status: 'recorded',
      limit: PAGE_SIZE_MAX,
      ...(cursor !== undefined && { cursor }),
    } as const;
    const { data, meta } = await listEvents(query, signal);
    events.push(...data);
    cursor = meta.next_cursor ?? undefined;
    if (cursor === undefined || events.length >= CORRECTIONS_MAX) {
      const found = events.slice(0, CORRECTIONS_MAX);
      const times = found.map(({ timestamp }) => timestamp).toSorted();
      return {
        ids: found.map(({ id }) => id),
        first: times[0] ?? '',
        last: times.at(-1) ?? '',
        hasMore: cursor !== undefined || events.length > CORRECTIONS_MAX,
      };
    }
  }
}

function VoidDialog({ filter, onClose }: { filter: EventFilter; onClose: () => void }) {
  // What was asked about stays, until it is read again: events that come meanwhile were not seen.
  const found = useQuery({
    queryKey: ['/api/v1/events', 'to void', filter],
    queryFn: ({ signal }) => findAll(filter, signal),
    staleTime: 'static',
    gcTime: 0,
  });
  return (
    <Dialog title="Void these events?" size="xl" onClose={onClose}>
      <Loaded query={found} rows={8}>
        {(of) =>
          of.ids.length === 0 ? (
            <p role="status">No recorded event is like this.</p>
          ) : (
            <VoidForm {...of} findAnew={found.refetch} onClose={onClose} />
          )
        }
      </Loaded>
    </Dialog>
  );
}

/** Nothing was done, since one of the events is not as it was found. */
const TAKEN = ['already_voided', 'not_correctable', 'not_found'];

const voidsOf = (ids: readonly string[], reason: string) =>
  ids.map((id) => ({ type: 'void' as const, event_id: id, reason }));

interface VoidFormProps extends Found {
  findAnew: () => Promise<unknown>;
  onClose: () => void;
}

function VoidForm({ ids, first, last, hasMore, findAnew, onClose }: VoidFormProps) {
  const queries = useQueryClient();
  const preview = usePreviewOfCorrections(voidsOf(ids, 'A preview'));
  const events = formatCount(ids.length, 'event');
  const form = useForm({
    initial: { reason: '' },
    async onSubmit({ reason }) {
      if (!(await isSeen(preview))) return NOT_SENT;
      try {
        await send(client.POST('/api/v1/corrections', { body: { corrections: voidsOf(ids, reason.trim()) } }));
      } catch (problem) {
        // Somebody else has voided one of them: what is left is found anew. After any other failure the same ones are sent again.
        if (TAKEN.includes(problemOf(problem).code))
          await Promise.all([findAnew(), queries.invalidateQueries({ queryKey: ['/api/v1/events'] })]);
        throw problem;
      }
      notify(`${events} ${ids.length === 1 ? 'does' : 'do'} not count any more.`);
      onClose();
      // What they counted for is on nearly every page.
      await queries.invalidateQueries();
    },
  });
  return (
    <FormBox form={form} submitLabel={`Void ${events}`} isDangerous onCancel={onClose}>
      <p className="dialog-lead">
        {hasMore
          ? `More than ${formatDecimal(CORRECTIONS_MAX)} recorded events are like this. These are the ${events} that were received last: the others are voided after them.`
          : `${events}, all of them or none.`}
      </p>
      <p>
        {first === last ? 'Time' : 'Times'}: <Time at={first} />
        {first !== last && (
          <>
            {' '}
            to <Time at={last} />
          </>
        )}
      </p>
      <p className="muted">
        They are taken out of the count, for good. Sending one again with its key brings nothing back.
      </p>
      <TextInput label="Reason" required data-autofocus {...form.field('reason')} />
      <WhatItDoes preview={preview} />
    </FormBox>
  );
}
