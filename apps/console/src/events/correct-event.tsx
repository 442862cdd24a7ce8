import { Button, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { writeExact } from '../api/exact-json.ts';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useOnward } from '../components/dialogs/leaving.ts';
import { NOT_SENT, useForm } from '../components/forms/form.tsx';
import { isSeen } from '../components/forms/is-seen.ts';
import { notify } from '../components/outcomes/notices.tsx';
import type { SearchTexts } from '../components/lists/search-texts.ts';
import { plainDecimal } from '../text/typed-text.ts';
import { amend, voidEvent, type Amendment, type EventReceipt } from './event-log.ts';
import { parseMetadata } from './metadata-text.ts';
import { usePreviewOfCorrections, WhatItDoes } from './what-it-does.tsx';

const WHAT_FOLLOWS =
  'Usage and drafts show it at once. An invoice that is finalized stays as it is, and the next one has a line for the difference.';

/** The API says what an amendment does once one has stopped typing. */
const PAUSE_MS = 400;

/** What can be done about a recorded event that is wrong. */
export function CorrectEvent({ event }: { event: EventReceipt }) {
  const [dialog, setDialog] = useState<'amend' | 'void'>();
  const close = () => setDialog(undefined);
  return (
    <div className="is-row">
      <Button variant="default" onClick={() => setDialog('amend')}>
        Amend
      </Button>
      <Button variant="default" color="red" onClick={() => setDialog('void')}>
        Void
      </Button>
      {dialog === 'amend' && <AmendForm event={event} onClose={close} />}
      {dialog === 'void' && <VoidForm event={event} onClose={close} />}
    </div>
  );
}

interface FormProps {
  event: EventReceipt;
  onClose: () => void;
}

function VoidForm({ event, onClose }: FormProps) {
  const queries = useQueryClient();
  const preview = usePreviewOfCorrections([{ type: 'void', event_id: event.id, reason: 'A preview' }]);
  const form = useForm({
    initial: { reason: '' },
    async onSubmit({ reason }) {
      if (!(await isSeen(preview))) return NOT_SENT;
      await voidEvent(event.id, reason.trim());
      notify('The event does not count any more.');
      onClose();
      // What it counted for is on nearly every page.
      await queries.invalidateQueries();
    },
  });
  return (
    <FormDialog
      title="Void this event?"
      submitLabel="Void the event"
      isDangerous
      size="xl"
      form={form}
      onClose={onClose}
    >
      <p className="muted">
        It is taken out of the count, for good. {WHAT_FOLLOWS} Sending it again with its key brings nothing back.
      </p>
      <TextInput label="Reason" required data-autofocus {...form.field('reason')} />
      <WhatItDoes preview={preview} />
    </FormDialog>
  );
}

interface Amended {
  quantity: string;
  timestamp: string;
  metadata: string;
}

/** Of what was typed, as the API takes it. Throws for metadata that cannot be read. */
function amendmentOf({ quantity, timestamp, metadata }: Amended, before: Amended): Omit<Amendment, 'reason'> {
  return {
    ...(quantity.trim() !== before.quantity && { quantity: plainDecimal(quantity) }),
    ...(timestamp.trim() !== before.timestamp && { timestamp: timestamp.trim() }),
    ...(metadata.trim() !== before.metadata.trim() && {
      metadata: metadata.trim() === '' ? null : parseMetadata(metadata),
    }),
  };
}

/** What is changed of an event. Undefined while nothing is, or what was typed cannot be read: that is said at its field, when it is sent. */
function changesOf(typed: Amended, before: Amended): Omit<Amendment, 'reason'> | undefined {
  try {
    const asked = amendmentOf(typed, before);
    return Object.keys(asked).length === 0 ? undefined : asked;
  } catch {
    return undefined;
  }
}

function AmendForm({ event, onClose }: FormProps) {
  const queries = useQueryClient();
  const onward = useOnward();
  const before = {
    quantity: event.quantity,
    timestamp: event.timestamp,
    metadata: event.metadata === null ? '' : writeExact(event.metadata, 2),
  };
  const form = useForm({
    initial: { reason: '', ...before },
    async onSubmit({ reason, quantity, timestamp, metadata }) {
      const asked = amendmentOf({ quantity, timestamp, metadata }, before);
      if (Object.keys(asked).length > 0) {
        // What was typed last is shown once one has stopped: what stands there is of before.
        const isOfThis = shown !== undefined && writeExact(shown) === writeExact(asked);
        if (!isOfThis || !(await isSeen(preview))) return NOT_SENT;
      }
      const body = { reason: reason.trim(), quantity: plainDecimal(quantity), ...asked };
      const { amended_by: id } = await amend(event.id, body);
      notify('Another event counts in its place.');
      onClose();
      // At once: by the time all is read anew one may be on another page.
      if (id !== null) void onward({ to: '/events', search: (all: SearchTexts) => ({ ...all, event: id }) });
      await queries.invalidateQueries();
    },
  });
  const [settled] = useDebouncedValue(form.values, PAUSE_MS);
  const shown = changesOf(settled, before);
  const preview = usePreviewOfCorrections(
    shown === undefined ? [] : [{ type: 'amend', event_id: event.id, reason: 'A preview', ...shown }],
  );
  return (
    <FormDialog title="Amend this event" submitLabel="Amend the event" size="xl" form={form} onClose={onClose}>
      <p className="muted">Another event counts in its place, with what is said here. {WHAT_FOLLOWS}</p>
      <TextInput label="Reason" required data-autofocus {...form.field('reason')} />
      <TextInput label="Quantity" required inputMode="decimal" {...form.field('quantity')} />
      <TextInput
        label="Time"
        description="With its offset, such as 2026-11-25T09:30:00Z"
        required
        {...form.field('timestamp')}
      />
      <Textarea
        label="Metadata"
        description="All of it; empty: none"
        classNames={{ input: 'mono' }}
        spellCheck={false}
        minRows={3}
        {...form.field('metadata')}
      />
      {shown !== undefined && <WhatItDoes preview={preview} />}
    </FormDialog>
  );
}
