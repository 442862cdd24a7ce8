import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { PAGE_SIZE_MAX } from '../api/limits.ts';
import { invalidate } from '../api/queries.ts';
import { Question } from '../components/dialogs/question.tsx';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { DateField } from '../components/forms/date-field.tsx';
import { Time } from '../components/page/time.tsx';
import { formatDecimal } from '../text/decimals.ts';

interface EraseProps {
  customer: Schema<'Customer'>;
  /** Draws what opens it. */
  trigger: (open: () => void) => ReactNode;
}

/** Asks, and says what goes and what stays: nothing of it can be taken back. One that is erased has only its copies on invoices left. */
export function EraseCustomer({ customer, trigger }: EraseProps) {
  // The one that was asked about stays as it was: what is read of it once it is erased has another name.
  const [asked, setAsked] = useState<Schema<'Customer'>>();
  return (
    <>
      {trigger(() => setAsked(customer))}
      {asked !== undefined && <EraseDialog customer={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

function EraseDialog({ customer, onClose }: { customer: Schema<'Customer'>; onClose: () => void }) {
  const queries = useQueryClient();
  const [before, setBefore] = useState('');
  const { id, name, external_id: externalId } = customer;
  const isErased = customer.erased_at !== null;
  const erase = async () => {
    const copies = before === '' ? {} : { invoice_copies_issued_before: before };
    await send(client.POST('/api/v1/erasures', { body: { customer_id: id, ...copies } }));
    await invalidate(
      queries,
      '/api/v1/erasures',
      '/api/v1/customers/{id}',
      '/api/v1/customers',
      '/api/v1/invoices/{id}',
    );
    onClose();
  };
  const title = isErased ? 'Erase it from invoices, too?' : `Erase ${name ?? externalId} for good?`;
  return (
    <Dialog title={title} onClose={onClose}>
      <Question label="Erase" onConfirm={erase} onCancel={onClose} isDangerous>
        {!isErased && (
          <>
            <p>Then nothing that is kept names this customer any more. It cannot be taken back.</p>
            <p>
              <strong>What goes:</strong> name, email, phone, address, tax ID, metadata and the external ID; metadata
              and idempotency keys of its events; links that show it its usage; alerts over it alone; what was sent, in
              the audit log.
            </p>
            <p>
              <strong>What stays:</strong> what was counted and billed, under a random id that leads back to nobody, and
              name and address on invoices, as the law asks.
            </p>
            <p>
              End its subscriptions and finalize its drafts first. Stop sending its events, too: one that comes later as{' '}
              <code>{externalId}</code> is of a new customer.
            </p>
          </>
        )}
        <DateField
          label="Also on invoices issued before"
          description="Where they need not be kept any longer: the copy of the customer, the note, the reference and texts of lines that were added go."
          placeholder="None"
          value={before}
          onChange={setBefore}
        />
      </Question>
    </Dialog>
  );
}

/** When a customer was erased, and while its usage is being renamed how far that is. */
export function Erased({ id, at }: { id: string; at: string }) {
  const erasures = useQuery({
    ...read('/api/v1/erasures', { query: { page_size: PAGE_SIZE_MAX } }),
    refetchInterval: ({ state }) => (isRunning(state.data?.data, id) ? 2_000 : false),
  });
  const own = erasures.data?.data.find(({ customer_id }) => customer_id === id);
  return (
    <>
      <Time at={at} as="date" />
      {own?.status === 'RUNNING' && ` – its usage gets its new id: ${formatDecimal(own.events)} events so far`}
    </>
  );
}

function isRunning(erasures: readonly Schema<'Erasure'>[] | undefined, id: string): boolean {
  return erasures?.some(({ customer_id, status }) => customer_id === id && status === 'RUNNING') ?? false;
}
