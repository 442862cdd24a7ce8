import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, send } from '../api/client.ts';
import { CORRECTIONS_MAX, PAGE_SIZE_MAX } from '../api/limits.ts';
import { problemOf } from '../api/problem.ts';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { listEvents, type EventFilter } from './event-log.ts';
import { WhatItDoes } from './what-it-does.tsx';

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
  /** Whether there are more than one request takes. */
  hasMore: boolean;
}

async function findAll(filter: EventFilter, signal: AbortSignal): Promise<Found> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const query = {
      ...filter,
      status: 'recorded',
      limit: PAGE_SIZE_MAX,
      ...(cursor !== undefined && { cursor }),
    } as const;
    const { data, meta } = await listEvents(query, signal);
    ids.push(...data.map(({ id }) => id));
    cursor = meta.next_cursor ?? undefined;
    if (cursor === undefined || ids.length >= CORRECTIONS_MAX)
      return { ids: ids.slice(0, CORRECTIONS_MAX), hasMore: cursor !== undefined || ids.length > CORRECTIONS_MAX };
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
        {({ ids, hasMore }) =>
          ids.length === 0 ? (
            <p role="status">No recorded event is like this.</p>
          ) : (
            <VoidForm ids={ids} hasMore={hasMore} findAnew={found.refetch} onClose={onClose} />
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

function VoidForm({ ids, hasMore, findAnew, onClose }: VoidFormProps) {
  const queries = useQueryClient();
  const events = ids.length === 1 ? '1 event' : `${formatDecimal(ids.length)} events`;
  const form = useForm({
    initial: { reason: '' },
    async onSubmit({ reason }) {
      try {
        await send(client.POST('/api/v1/corrections', { body: { corrections: voidsOf(ids, reason.trim()) } }));
      } catch (problem) {
        // Somebody else has voided one of them: what is left is found anew. After any other failure the same ones are sent again.
        if (TAKEN.includes(problemOf(problem).code))
          await Promise.all([findAnew(), queries.invalidateQueries({ queryKey: ['/api/v1/events'] })]);
        throw problem;
      }
      notify(`${events} do not count any more.`);
      onClose();
      // What they counted for is on nearly every page.
      await queries.invalidateQueries();
    },
  });
  return (
    <FormBox form={form} submitLabel={`Void ${events}`} onCancel={onClose}>
      <p className="dialog-lead">
        {hasMore
          ? `More than ${formatDecimal(CORRECTIONS_MAX)} recorded events are like this. These are the newest ${events}: the others are voided after them.`
          : `${events}, all of them or none.`}
      </p>
      <p className="muted">
        They are taken out of the count, for good. Sending one again with its key brings nothing back.
      </p>
      <TextInput label="Reason" required data-autofocus {...form.field('reason')} />
      <WhatItDoes corrections={voidsOf(ids, 'A preview')} />
    </FormBox>
  );
}
