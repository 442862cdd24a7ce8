import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { client, read, send, type Answer, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { Confirm } from '../components/dialogs/confirm.tsx';
import type { Column } from '../components/lists/data-table.tsx';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { useShownOnce } from '../components/dialogs/shown-once.ts';
import { PagedList } from '../components/lists/paged-list.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { Page } from '../components/page/page.tsx';
import { Snippet } from '../components/page/snippet.tsx';
import { Time } from '../components/page/time.tsx';
import { lostKey, NewKeyForm } from './new-key-form.tsx';

type ApiKey = Answer<'/api/v1/api-keys'>['data'][number];

const COLUMNS: Column<ApiKey>[] = [
  { title: 'Name', cell: ({ name }) => <strong className="name">{name}</strong> },
  { title: 'Key', cell: ({ last4 }) => <code>org_live_…{last4}</code> },
  { title: 'Scopes', cell: ({ scopes }) => <code>{scopes.join(', ')}</code>, isExtra: true },
  {
    title: 'Last used',
    cell: ({ last_used_at: at }) => (at === null ? <span className="muted">Never</span> : <Time at={at} as="ago" />),
  },
  { title: 'Created', cell: ({ created_at: at }) => <Time at={at} as="date" />, isExtra: true },
];

export function ApiKeysPage() {
  const { page = '1' } = useSearch({ from: '/shell/api-keys' });
  const navigate = useNavigate({ from: '/api-keys' });
  const { isAdmin } = useSession();
  const [isCreating, setCreating] = useState(false);
  const keys = useQuery(read('/api/v1/api-keys', { query: { page: Number(page) } }));
  const columns: Column<ApiKey>[] = isAdmin
    ? [...COLUMNS, { title: 'Actions', isTitleHidden: true, isTight: true, cell: (key) => <DeleteKey apiKey={key} /> }]
    : COLUMNS;
  return (
    <Page
      title="API keys"
      about="Your services send usage with a key. It is shown once, when it is made; Weir keeps only a hash."
      actions={isAdmin && <Button onClick={() => setCreating(true)}>New key</Button>}
    >
      <PagedList
        query={keys}
        onPage={(next) => void navigate({ search: { page: String(next) } })}
        label="API keys"
        columns={columns}
        empty="No keys yet. A service needs one to send events."
      />
      {isCreating && <NewKeyDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const { shown: created, show } = useShownOnce(lostKey);
  return (
    <Dialog
      title={created === undefined ? 'New API key' : `The key “${created.name}”`}
      onClose={onClose}
      // Null where the answer that held it did not come.
      isShownOnce={typeof created?.key === 'string'}
    >
      {created === undefined ? (
        <NewKeyForm onCreated={show} onCancel={onClose} />
      ) : (
        <ShownKey apiKey={created} onClose={onClose} />
      )}
    </Dialog>
  );
}

function ShownKey({ apiKey, onClose }: { apiKey: Schema<'CreatedApiKey'>; onClose: () => void }) {
  // Null where the first answer, which held it, did not come: it is in no other.
  const { key } = apiKey;
  return (
    <>
      {key === null ? (
        <p className="dialog-lead">
          The key was made when you sent this first, but the answer that showed it did not come, and nobody can show it
          again. Delete this key, and make another.
        </p>
      ) : (
        <>
          <p className="dialog-lead">Copy it now and keep it like a password: nobody can show it again.</p>
          <Snippet text={key} label="Copy the key" />
        </>
      )}
      <div className="dialog-actions">
        <Button onClick={onClose} data-autofocus>
          {key === null ? 'Close' : 'I have copied it'}
        </Button>
      </div>
    </>
  );
}

function DeleteKey({ apiKey: { id, name, last4 } }: { apiKey: ApiKey }) {
  const queries = useQueryClient();
  return (
    <Confirm
      label="Delete the key"
      title={`Delete “${name}”?`}
      isDangerous
      onConfirm={async () => {
        await send(client.DELETE('/api/v1/api-keys/{id}', { params: { path: { id } } }));
        await invalidate(queries, '/api/v1/api-keys');
        notify(`The key “${name}” is deleted.`);
      }}
      trigger={(open) => (
        <RowMenu label={`Actions on ${name}`} items={[{ label: 'Delete', onClick: open, isDangerous: true }]} />
      )}
    >
      <p>
        From that moment each request with <code>org_live_…{last4}</code> is answered with 401, and the widget tokens
        that it made work no more. This cannot be taken back.
      </p>
    </Confirm>
  );
}
