import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { client, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { useShownOnce } from '../components/dialogs/shown-once.ts';
import { DateField } from '../components/forms/date-field.tsx';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { Snippet } from '../components/page/snippet.tsx';
import { addDays, isDay, LOCAL_ZONE, startOfDay } from '../text/instants.ts';

type Created = Schema<'CreatedServiceToken'>;

/** Told to whoever has left before the token was there. */
const lostToken = ({ name }: Created): string =>
  `The token “${name}” was made while you were elsewhere, and nobody can show it again: delete it, and make another.`;

interface NewTokenProps {
  accountId: string;
  onClose: () => void;
}

export function NewTokenDialog({ accountId, onClose }: NewTokenProps) {
  const { shown: created, show } = useShownOnce(lostToken);
  return (
    <Dialog
      title={created === undefined ? 'New token' : `The token “${created.name}”`}
      onClose={onClose}
      // Null where the answer that held it did not come.
      isShownOnce={typeof created?.token === 'string'}
    >
      {created === undefined ? (
        <TokenForm accountId={accountId} onCreated={show} onClose={onClose} />
      ) : (
        <ShownToken token={created.token} onClose={onClose} />
      )}
    </Dialog>
  );
}

function TokenForm({ accountId, onCreated, onClose }: NewTokenProps & { onCreated: (created: Created) => void }) {
  const queries = useQueryClient();
  const form = useForm({
    name: `service-token-${accountId}`,
    initial: { name: '', last_day: '' },
    async onSubmit({ name, last_day }) {
      // The day that is named still counts.
      const expires_at = isDay(last_day) ? startOfDay(addDays(last_day, 1), LOCAL_ZONE) : last_day || null;
      const params = { path: { id: accountId } };
      const body = { name: name.trim(), expires_at };
      const created = await send(client.POST('/api/v1/service-accounts/{id}/tokens', { params, body }));
      // It is shown at once, whatever becomes of the list.
      onCreated(created);
      void invalidateTokens(queries);
    },
  });
  return (
    <FormBox form={form} submitLabel="Create the token" onCancel={onClose} isShownOnce>
      <TextInput label="Name" placeholder="Host 1" data-autofocus required {...form.field('name')} />
      <DateField
        label="Last day"
        description="Empty: it does not end by itself"
        {...form.field('last_day', 'expires_at')}
      />
    </FormBox>
  );
}

function ShownToken({ token, onClose }: { token: string | null; onClose: () => void }) {
  return (
    <>
      {token === null ? (
        <p className="dialog-lead">
          The token was made when you sent this first, but the answer that showed it did not come, and nobody can show
          it again. Delete this token, and make another.
        </p>
      ) : (
        <>
          <p className="dialog-lead">
            Copy it now and keep it like a password: nobody can show it again. It is sent as{' '}
            <code>Authorization: Bearer</code>.
          </p>
          <Snippet text={token} label="Copy the token" />
        </>
      )}
      <div className="dialog-actions">
        <Button onClick={onClose} data-autofocus>
          {token === null ? 'Close' : 'I have copied it'}
        </Button>
      </div>
    </>
  );
}

/** Has all that shows tokens, or how many there are, read anew. */
export async function invalidateTokens(queries: ReturnType<typeof useQueryClient>): Promise<void> {
  const lists = ['/api/v1/service-accounts', '/api/v1/service-accounts/{id}'] as const;
  await invalidate(queries, ...lists, '/api/v1/service-accounts/{id}/tokens');
}
