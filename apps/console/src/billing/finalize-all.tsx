import { useQueryClient } from '@tanstack/react-query';
import { client, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { notify } from '../components/outcomes/notices.tsx';

/** Finalizes the drafts that are on a page, in the order of their periods. */
export function FinalizeAll({ drafts }: { drafts: readonly Schema<'Invoice'>[] }) {
  const queries = useQueryClient();
  // While they are looked at, the run may have finalized some.
  const ids = drafts.filter(({ status }) => status === 'DRAFT').map(({ id }) => id);
  if (ids.length < 2) return null;
  const finalize = async () => {
    const { data } = await send(client.POST('/api/v1/invoices/finalize', { body: { ids } }));
    await invalidate(queries, '/api/v1/invoices', '/api/v1/invoices/{id}');
    const done = data.filter(({ outcome }) => outcome === 'finalized').length;
    const left = data.filter(({ outcome }) => outcome === 'earlier_draft' || outcome === 'not_reached').length;
    notify(
      `${done} invoices are finalized.` +
        (left === 0
          ? ''
          : ` ${left} stay drafts: finalize what is left on this page, or the earlier ones of their subscriptions, first.`),
    );
  };
  return (
    <Confirm
      label={`Finalize these ${ids.length}`}
      title={`Finalize these ${ids.length} drafts now?`}
      onConfirm={finalize}
    >
      Each gets its number, credits are drawn, and its amounts never change again. What comes in later for its period is
      on the next invoice.
    </Confirm>
  );
}
