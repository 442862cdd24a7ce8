// Changes of an invoice: an admin adds lines to a draft and finalizes it, and says of a finalized one what became of it.

import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, send, type Schema } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { invalidate } from '../api/queries.ts';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { lazily } from '../components/page/lazily.tsx';
import { useOnward } from '../components/dialogs/leaving.ts';
import { notify } from '../components/outcomes/notices.tsx';
import { OF_INVOICES } from './invoice-dialogs.ts';

const PayForm = lazily(() => import('./invoice-forms.tsx').then((loaded) => loaded.PayForm));
const VoidForm = lazily(() => import('./invoice-forms.tsx').then((loaded) => loaded.VoidForm));
const UncollectibleForm = lazily(() => import('./invoice-forms.tsx').then((loaded) => loaded.UncollectibleForm));

type Invoice = Schema<'InvoiceWithLines'>;

/** The steps that an invoice can take from its status. */
export function InvoiceButtons({ invoice, subscription }: { invoice: Invoice; subscription: Schema<'Subscription'> }) {
  const queries = useQueryClient();
  const onward = useOnward();
  const [dialog, setDialog] = useState<'pay' | 'void' | 'uncollectible'>();
  const { id, status } = invoice;
  const { time_zone: zone } = subscription;
  const finalize = async () => {
    try {
      await send(client.POST('/api/v1/invoices/{id}/finalize', { params: { path: { id } } }));
    } catch (problem) {
      if (problemOf(problem).code !== 'not_found') throw problem;
      notify('Nothing was to be billed: the draft is gone.', 'noted');
      // Before its page asks for it again.
      await onward({ to: '/invoices' });
    }
    await invalidate(queries, ...OF_INVOICES);
  };
  const close = () => setDialog(undefined);
  const isPayable = status === 'OPEN' || status === 'UNCOLLECTIBLE';
  return (
    <>
      {status === 'DRAFT' && (
        <Confirm
          label="Finalize"
          title="Finalize this invoice now?"
          onConfirm={finalize}
          trigger={(open) => <Button onClick={open}>Finalize</Button>}
        >
          It gets its number, credits are drawn, and its amounts never change again. What comes in later for its period
          is on the next invoice.
        </Confirm>
      )}
      {isPayable && <Button onClick={() => setDialog('pay')}>Mark as paid</Button>}
      {status === 'OPEN' && (
        <Button variant="default" onClick={() => setDialog('uncollectible')}>
          Mark uncollectible
        </Button>
      )}
      {isPayable && (
        <Button variant="default" onClick={() => setDialog('void')}>
          Void
        </Button>
      )}
      {dialog === 'pay' && <PayForm invoice={invoice} zone={zone} onClose={close} />}
      {dialog === 'void' && <VoidForm invoice={invoice} subscription={subscription} onClose={close} />}
      {dialog === 'uncollectible' && <UncollectibleForm invoice={invoice} onClose={close} />}
    </>
  );
}

export function useRemoveLine(id: string) {
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const removeLine = async (lineId: string): Promise<void> => {
    setError(null);
    try {
      const path = { id, line_id: lineId };
      await send(client.DELETE('/api/v1/invoices/{id}/lines/{line_id}', { params: { path } }));
    } catch (problem) {
      setError(problem);
    }
    await invalidate(queries, ...OF_INVOICES);
  };
  return { removeLine, error };
}
