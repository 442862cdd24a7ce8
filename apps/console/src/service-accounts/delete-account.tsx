import { useQueryClient } from '@tanstack/react-query';
import { client, send, type Schema } from '../api/client.ts';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { invalidateTokens } from './new-token-dialog.tsx';

export function DeleteAccount({ account: { id, name } }: { account: Schema<'ServiceAccount'> }) {
  const queries = useQueryClient();
  return (
    <Confirm
      label="Delete the account"
      title={`Delete “${name}”?`}
      isDangerous
      onConfirm={async () => {
        await send(client.DELETE('/api/v1/service-accounts/{id}', { params: { path: { id } } }));
        await invalidateTokens(queries);
        notify(`The service account “${name}” is deleted.`);
      }}
      trigger={(open) => (
        <RowMenu label={`Actions on ${name}`} items={[{ label: 'Delete', onClick: open, isDangerous: true }]} />
      )}
    >
      <p>
        From that moment each request with one of its tokens is answered with 401. This cannot be taken back. The audit
        log keeps what the account did, by its name.
      </p>
    </Confirm>
  );
}
