// A service account and its tokens. A token is replaced without a gap: another one is made, put in place, and the first is deleted.

import { Button } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { ToChange } from '../components/forms/to-change.tsx';
import type { Column } from '../components/lists/data-table.tsx';
import { Facts } from '../components/lists/facts.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { useSearchState } from '../components/lists/search-state.ts';
import { notify } from '../components/outcomes/notices.tsx';
import { Page, Section } from '../components/page/page.tsx';
import { ThingPage } from '../components/page/thing-page.tsx';
import { Time } from '../components/page/time.tsx';
import { formatLastDay } from '../text/instants.ts';
import { AccountForm } from './account-form.tsx';
import { invalidateTokens, NewTokenDialog } from './new-token-dialog.tsx';
import { roleWords } from './roles.ts';

type ServiceAccount = Schema<'ServiceAccount'>;
type ServiceToken = Schema<'ServiceToken'>;

const ABOVE = <Link to="/service-accounts">Service accounts</Link>;

export function ServiceAccountPage() {
  const { accountId } = useParams({ from: '/shell/service-accounts/$accountId' });
  const account = useQuery(read('/api/v1/service-accounts/{id}', { path: { id: accountId } }));
  return (
    <ThingPage query={account} of="Service account" above={ABOVE}>
      {(data) => <AccountView account={data} />}
    </ThingPage>
  );
}

function AccountView({ account }: { account: ServiceAccount }) {
  const [isEditing, setEditing] = useState(false);
  return (
    <Page
      title={account.name}
      above={ABOVE}
      actions={
        <AdminOnly>
          <Button variant="default" onClick={() => setEditing(true)}>
            Edit
          </Button>
        </AdminOnly>
      }
    >
      <Facts
        of={[
          ['Role', roleWords(account.role)],
          [
            'Last used',
            account.last_used_at === null ? 'never' : <Time key="used" at={account.last_used_at} as="ago" />,
          ],
          ['Since', <Time key="since" at={account.created_at} as="date" />],
        ]}
      />
      <Tokens account={account} />
      {isEditing && (
        <ToChange path="/api/v1/service-accounts/{id}" params={{ path: { id: account.id } }}>
          {(opened) => (
            <AccountForm opened={opened} onSaved={() => setEditing(false)} onClose={() => setEditing(false)} />
          )}
        </ToChange>
      )}
    </Page>
  );
}

function Tokens({ account: { id } }: { account: ServiceAccount }) {
  const { page, setPage } = useSearchState();
  const [isMaking, setMaking] = useState(false);
  const tokens = useQuery({
    ...read('/api/v1/service-accounts/{id}/tokens', { path: { id }, query: { page } }),
    placeholderData: keepPreviousData,
  });
  const columns: Column<ServiceToken>[] = [
    { title: 'Name', cell: ({ name }) => <strong className="name">{name}</strong> },
    { title: 'Token', cell: ({ last4 }) => <code>org_svc_…{last4}</code> },
    { title: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'Never' : <Time at={at} as="ago" />) },
    { title: 'Last day', cell: ({ expires_at: at }) => (at === null ? 'none' : <LastDay end={at} />), isExtra: true },
    { title: 'Created', cell: ({ created_at: at }) => <Time at={at} as="date" />, isExtra: true },
    {
      title: 'Actions',
      isTitleHidden: true,
      isTight: true,
      cell: (token) => (
        <AdminOnly>
          <DeleteToken accountId={id} token={token} />
        </AdminOnly>
      ),
    },
  ];
  return (
    <Section
      title="Tokens"
      about="To replace one without a gap, make a new one, put it in place, and delete the first."
      actions={
        <AdminOnly>
          <Button onClick={() => setMaking(true)}>New token</Button>
        </AdminOnly>
      }
    >
      <PagedList
        query={tokens}
        onPage={setPage}
        label="Tokens"
        columns={columns}
        empty={<p>No token yet: the account opens nothing before it has one.</p>}
      />
      {isMaking && <NewTokenDialog accountId={id} onClose={() => setMaking(false)} />}
    </Section>
  );
}

function LastDay({ end }: { end: string }) {
  const [now] = useState(Date.now);
  const day = formatLastDay(end);
  return Date.parse(end) > now ? day : <span className="muted">{day}, ended</span>;
}

function DeleteToken({ accountId, token: { id, name, last4 } }: { accountId: string; token: ServiceToken }) {
  const queries = useQueryClient();
  return (
    <Confirm
      label="Delete the token"
      title={`Delete “${name}”?`}
      isDangerous
      onConfirm={async () => {
        const params = { path: { id: accountId, token_id: id } };
        await send(client.DELETE('/api/v1/service-accounts/{id}/tokens/{token_id}', { params }));
        await invalidateTokens(queries);
        notify(`The token “${name}” is deleted.`);
      }}
      trigger={(open) => (
        <RowMenu label={`Actions on ${name}`} items={[{ label: 'Delete', onClick: open, isDangerous: true }]} />
      )}
    >
      <p>
        From that moment each request with <code>org_svc_…{last4}</code> is answered with 401. This cannot be taken
        back.
      </p>
    </Confirm>
  );
}
