// Erasing a customer, and first its former external IDs: it is asked about, and gone for good then.

import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import { readPages } from '../api/pages.ts';
import { problemOf } from '../api/problem.ts';
import { invalidate } from '../api/queries.ts';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { Question } from '../components/dialogs/question.tsx';
import { DateField } from '../components/forms/date-field.tsx';

const REFRESH_MS = 2_000;

export function EraseDialog({ customer, onClose }: { customer: Schema<'Customer'>; onClose: () => void }) {
  const queries = useQueryClient();
  const [before, setBefore] = useState('');
  const [former, setFormer] = useState<readonly string[]>([]);
  const [begun, setBegun] = useState<readonly string[]>([]);
  const isDone = useAreDone(begun);
  const { id, name, external_id: externalId } = customer;
  const isErased = customer.erased_at !== null;
  const erase = async () => {
    const copies = before === '' ? {} : { invoice_copies_issued_before: before };
    if (begun.length < former.length) return await eraseFormer(former.slice(begun.length), setBegun);
    try {
      await send(client.POST('/api/v1/erasures', { body: { customer_id: id, ...copies } }));
    } catch (problem) {
      if (problemOf(problem).code !== 'external_id_billed') throw problem;
      // It had another external id when it was billed, and what names it by that is erased first. Nobody has been asked about it yet.
      setBegun([]);
      return setFormer(await findFormer(customer));
    }
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
      <Question
        label={begun.length < former.length ? 'Erase these, too' : 'Erase'}
        onConfirm={erase}
        isReady={isDone}
        onCancel={onClose}
        isDangerous
      >
        {!isErased && (
          <>
            <p>Then nothing that is kept names this customer any more. It cannot be taken back.</p>
            <p>
              <strong>What goes:</strong> name, email and what else its record says but the time zone, and the external
              ID; metadata and idempotency keys of its events; links that show it its usage; alerts over it alone; what
              was sent, in the audit log.
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
        {former.length > 0 && <FormerIds key={former.join()} of={former} />}
        {begun.length > 0 && (
          <p role="status">
            {isDone
              ? 'What had the former IDs has a random one by now: erase the customer.'
              : 'What has the former IDs gets a random one. It goes on if you close this: erase the customer later then.'}
          </p>
        )}
      </Question>
    </Dialog>
  );
}

/** Says of a press of Erase why nothing is erased yet, and has the focus. */
function FormerIds({ of: ids }: { of: readonly string[] }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <div ref={box} className="problem" role="alert" tabIndex={-1}>
      <p className="problem-detail">
        Not erased yet: subscriptions of it were billed under former external IDs, which are erased first:{' '}
        {ids.map((each, index) => (
          <span key={each}>
            {index > 0 && ', '}
            <code>{each}</code>
          </span>
        ))}
        . The customer is erased after that.
      </p>
    </div>
  );
}

/** By what ended subscriptions of the customer still name it, other than by the external id that it has now. */
async function findFormer({ id, external_id: now }: Schema<'Customer'>): Promise<string[]> {
  const [subscriptions, erasures] = await Promise.all([
    readPages((part) => send(client.GET('/api/v1/subscriptions', { params: { query: { customer_id: id, ...part } } }))),
    readPages((part) => send(client.GET('/api/v1/erasures', { params: { query: part } }))),
  ]);
  const names = new Set(subscriptions.map(({ customer_external_id: name }) => name));
  names.delete(now);
  // What these gave leads back to nobody.
  for (const { external_id: random } of erasures) names.delete(random);
  return [...names];
}

/** Has these ids erased, and says of each at once that it is begun. A worker does it. */
async function eraseFormer(
  externalIds: readonly string[],
  begin: (add: (begun: readonly string[]) => string[]) => void,
): Promise<void> {
  for (const customer_external_id of externalIds) {
    const { id } = await send(client.POST('/api/v1/erasures', { body: { customer_external_id } }));
    begin((begun) => [...begun, id]);
  }
}

/** Whether these erasures are done, looked at until they are. */
function useAreDone(ids: readonly string[]): boolean {
  return useQueries({
    queries: ids.map((id) => ({
      ...read('/api/v1/erasures/{id}', { path: { id } }),
      refetchInterval: ({ state }: { state: { data: Schema<'Erasure'> | undefined } }) =>
        state.data?.status === 'DONE' ? (false as const) : pace(REFRESH_MS),
    })),
    combine: (erasures) => erasures.every(({ data }) => data?.status === 'DONE'),
  });
}
