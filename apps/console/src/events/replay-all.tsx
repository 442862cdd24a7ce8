import { Button, Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { PAGE_SIZE_MAX } from '../api/limits.ts';
import { isOfWhatWasSent, problemOf } from '../api/problem.ts';
import { invalidate } from '../api/queries.ts';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { formatCount, formatDecimal } from '../text/decimals.ts';
import { wordsOf } from '../components/outcomes/problem-words.ts';
import { correct, type Correction } from './correction.ts';
import { listEvents, replay, type EventReceipt, type Rejection } from './event-log.ts';

const SOURCES = [
  { value: 'none', label: 'Send them as they are' },
  { value: 'field', label: 'Set a key from another key of the metadata' },
  { value: 'customer', label: 'Set a key to the customer’s external id' },
  { value: 'text', label: 'Set a key to one value for all' },
];

interface Progress {
  sent: number;
  /** Without the value that was to be set: left as they are. */
  skipped: number;
  failed: number;
  /** The first refusal. */
  firstProblem: string | undefined;
  isOver: boolean;
}

const NOTHING: Progress = { sent: 0, skipped: 0, failed: 0, firstProblem: undefined, isOver: false };

export interface ReplayAllProps {
  rejection: Rejection;
  /** Whether there may be more of it than were counted: they are replayed as well. */
  isPartial: boolean;
  onClose: () => void;
}

/** Corrects and replays all rejected events of one reason, one after another. It can be stopped, and done again for the rest. */
export function ReplayAll({ rejection, isPartial, onClose }: ReplayAllProps) {
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress | undefined>();
  const stopping = useRef(new AbortController());
  const form = useForm<Correction>({
    initial: { source: 'none', key: /metadata\.(\w+)/.exec(rejection.reason)?.[1] ?? '', value: '' },
    onSubmit: async (correction) => {
      stopping.current = new AbortController();
      const { signal } = stopping.current;
      let state = NOTHING;
      setProgress(state);
      try {
        for await (const event of rejectedBy(rejection, signal)) {
          if (signal.aborted) break;
          state = await replayOne(event, correction, state);
          setProgress(state);
        }
      } catch (error) {
        // A page that was being read when it was stopped.
        if (!signal.aborted) throw error;
      } finally {
        await invalidate(queries, '/api/v1/events', '/api/v1/events/rejections', '/api/v1/overview');
      }
      setProgress({ ...state, isOver: true });
    },
  });
  const { source } = form.values;
  const counted = formatCount(rejection.count, 'event');
  return (
    <Dialog title={isPartial ? 'Replay all of this reason' : `Replay ${counted}`} onClose={onClose}>
      <FormBox form={form} submitLabel="Replay all" onCancel={onClose}>
        <p className="receipt-reason">{rejection.reason}</p>
        {isPartial && (
          <p className="dialog-lead">
            Counted among the newest: {counted}. There may be far more: all of them are sent again.
          </p>
        )}
        <Select label="Correction" data={SOURCES} allowDeselect={false} {...form.field('source')} />
        {source !== 'none' && (
          <div className="form-row">
            <TextInput label="Key to set" {...form.field('key')} />
            {source === 'field' && (
              <TextInput label="Key that has the value" placeholder="userId" {...form.field('value')} />
            )}
            {source === 'text' && <TextInput label="Value" {...form.field('value')} />}
          </div>
        )}
        {progress !== undefined && <ProgressWords {...progress} />}
        {form.isBusy && (
          <Button variant="default" onClick={() => stopping.current.abort()}>
            Stop
          </Button>
        )}
      </FormBox>
    </Dialog>
  );
}

function ProgressWords({ sent, skipped, failed, firstProblem, isOver }: Progress) {
  return (
    <div role="status">
      <p className="dialog-lead">
        {isOver ? 'Done: ' : ''}
        {formatDecimal(sent)} sent again
        {skipped > 0 && `, ${formatDecimal(skipped)} left as they are, since they have no such value`}
        {failed > 0 && `, ${formatDecimal(failed)} refused`}.
      </p>
      {firstProblem !== undefined && <p className="muted">The first refusal: {firstProblem}</p>}
    </div>
  );
}

async function replayOne(event: EventReceipt, correction: Correction, state: Progress): Promise<Progress> {
  const metadata = correct(correction, event);
  if (metadata === 'missing') return { ...state, skipped: state.skipped + 1 };
  try {
    await replay(event.id, metadata);
    return { ...state, sent: state.sent + 1 };
  } catch (error) {
    const problem = problemOf(error);
    // Somebody else has replayed it meanwhile.
    if (problem.code === 'not_replayable') return state;
    // Any other failure is none of this event: it is not known what became of it, and those after it would fail as well.
    if (!isOfWhatWasSent(error)) throw error;
    return { ...state, failed: state.failed + 1, firstProblem: state.firstProblem ?? wordsOf(problem).said };
  }
}

/** Pages back from the newest: those that are replayed meanwhile leave the list, and move nothing that comes after. */
async function* rejectedBy(
  { reason, meter_id: meter }: Rejection,
  signal: AbortSignal,
): AsyncGenerator<EventReceipt, void, undefined> {
  for (let cursor: string | undefined; ;) {
    const query = { status: 'rejected' as const, reason, meter_id: meter, limit: PAGE_SIZE_MAX };
    const page = await listEvents({ ...query, ...(cursor !== undefined && { cursor }) }, signal);
    yield* page.data;
    if (page.meta.next_cursor === null) return;
    cursor = page.meta.next_cursor;
  }
}
