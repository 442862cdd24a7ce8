import { Button, PasswordInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { client, read, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { Facts } from '../components/lists/facts.tsx';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { Section } from '../components/page/page.tsx';
import { Time } from '../components/page/time.tsx';
import { browserOf } from './user-agents.ts';

type Session = Schema<'Session'>;

export function OwnAccount() {
  const { user, role } = useSession();
  return (
    <>
      <Facts
        of={[
          ['Email', user.email],
          ['Role', role],
        ]}
      />
      <div className="columns">
        <Section title="Password" about="A change ends your other sessions.">
          <PasswordForm />
        </Section>
        <Sessions />
      </div>
    </>
  );
}

function PasswordForm() {
  const queries = useQueryClient();
  const form = useForm({
    initial: { current_password: '', new_password: '' },
    secret: ['current_password', 'new_password'],
    async onSubmit(body) {
      await send(client.POST('/api/v1/auth/password', { body }));
      form.reset();
      await invalidate(queries, '/api/v1/auth/sessions');
      notify('The password is changed, and your other sessions have ended.');
    },
  });
  return (
    <FormBox form={form} submitLabel="Change password">
      <PasswordInput
        label="Current password"
        autoComplete="current-password"
        required
        {...form.field('current_password')}
      />
      <PasswordInput
        label="New password"
        description="12 characters or more"
        autoComplete="new-password"
        required
        {...form.field('new_password')}
      />
    </FormBox>
  );
}

function Sessions() {
  const queries = useQueryClient();
  const sessions = useQuery(read('/api/v1/auth/sessions'));
  const refresh = () => invalidate(queries, '/api/v1/auth/sessions');
  const end = async ({ id }: Session) => {
    await send(client.DELETE('/api/v1/auth/sessions/{id}', { params: { path: { id } } }));
    await refresh();
  };
  const endOthers = async () => {
    await send(client.DELETE('/api/v1/auth/sessions'));
    await refresh();
  };
  const columns: Column<Session>[] = [
    {
      title: 'Browser',
      cell: ({ user_agent, is_current }) => (
        <>
          {browserOf(user_agent)} {is_current && <span className="status status-good">this one</span>}
        </>
      ),
    },
    { title: 'Address', cell: ({ address }) => address ?? '–', isExtra: true },
    { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} as="ago" /> },
    {
      title: 'Changes',
      isTitleHidden: true,
      isTight: true,
      cell: (session) =>
        !session.is_current && (
          <Confirm
            label="End session"
            title="End this session?"
            onConfirm={() => end(session)}
            trigger={(open) => (
              <Button variant="subtle" color="red" onClick={open}>
                End
              </Button>
            )}
          >
            Whoever uses it has to sign in again.
          </Confirm>
        ),
    },
  ];
  return (
    <Section
      title="Your sessions"
      actions={
        <Confirm label="End all others" title="End all sessions but this one?" onConfirm={endOthers}>
          Whoever uses them has to sign in again.
        </Confirm>
      }
    >
      <Loaded query={sessions}>
        {({ data }) => (
          <DataTable label="Your sessions" columns={columns} rows={data} keyOf={({ id }) => id} empty="None." />
        )}
      </Loaded>
    </Section>
  );
}
