// Who belongs to the organization, and who is invited. Links are shown once: whoever has one can use it.

import { Button, Select, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { PASSWORD_RESET_HOURS_MAX } from '../api/limits.ts';
import { invalidate } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Confirm } from '../components/dialogs/confirm.tsx';
import type { Column } from '../components/lists/data-table.tsx';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useForm } from '../components/forms/form.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { Section } from '../components/page/page.tsx';
import { Time } from '../components/page/time.tsx';
import { LinkOnce, useShownLinks, type ShownLink } from './link-once.tsx';
import { RoleSelect } from './role-select.tsx';

type User = Schema<'User'>;
type Invitation = Schema<'Invitation'>;

export function People() {
  const { links, show, putAway } = useShownLinks();
  const [page, setPage] = useState(1);
  const users = useUsers(page);
  // Those of somebody who is no admin any more open nothing.
  const { isAdmin } = useSession();
  return (
    <>
      {(isAdmin ? links : []).map((each) => (
        <LinkOnce key={each.title} of={each} onClose={() => putAway(each.title)} />
      ))}
      <Users onLink={show} onLinkOver={putAway} page={page} onPage={setPage} />
      {/* Below a list whose height is known, so that nothing moves. */}
      {!users.isPending && (
        <AdminOnly>
          <Invitations onLink={show} onLinkOver={putAway} />
        </AdminOnly>
      )}
    </>
  );
}

/** The titles of links. */
const titleOfInvitation = ({ email }: Pick<Invitation, 'email'>): string => `The invitation of ${email}`;
const titleOfPassword = ({ email }: Pick<User, 'email'>): string => `A new password for ${email}`;

interface LinkProps {
  onLink: (link: ShownLink) => void;
}

interface LinksProps extends LinkProps {
  /** The link of this title works no more. */
  onLinkOver: (title: string) => void;
}

function useUsers(page: number) {
  return useQuery({ ...read('/api/v1/users', { query: { page } }), placeholderData: keepPreviousData });
}

interface UsersProps extends LinksProps {
  page: number;
  onPage: (page: number) => void;
}

function Users({ onLink, onLinkOver, page, onPage }: UsersProps) {
  const queries = useQueryClient();
  const { user: self, isAdmin } = useSession();
  const users = useUsers(page);
  const remove = async (user: User) => {
    const { id } = user;
    await send(client.DELETE('/api/v1/users/{id}', { params: { path: { id } } }));
    onLinkOver(titleOfPassword(user));
    await invalidate(queries, '/api/v1/users', '/api/v1/invitations');
  };
  const reset = async (user: User) => {
    const { id } = user;
    const made = await send(client.POST('/api/v1/users/{id}/password-reset', { params: { path: { id } } }));
    onLink({ ...made, title: titleOfPassword(user) });
  };
  const columns: Column<User>[] = [
    {
      title: 'Email',
      cell: ({ id, email }) => (
        <>
          {email} {id === self.id && <span className="muted">you</span>}
        </>
      ),
    },
    { title: 'Role', cell: (user) => (isAdmin ? <RoleSelect user={user} /> : user.role), isTight: true },
    {
      title: 'Last seen',
      cell: ({ last_seen_at: at }) => (at === null ? 'never' : <Time at={at} as="ago" />),
      isExtra: true,
    },
    { title: 'Since', cell: ({ created_at }) => <Time at={created_at} as="date" />, isExtra: true },
    {
      title: 'Actions',
      isTitleHidden: true,
      isTight: true,
      cell: (user) => (
        <AdminOnly>
          <Confirm
            label="Make the link"
            title={`Make a link for ${user.email} to set a new password?`}
            onConfirm={() => reset(user)}
            trigger={(openReset) => (
              <Confirm
                label="Remove"
                title={`Remove ${user.email}?`}
                onConfirm={() => remove(user)}
                isDangerous
                trigger={(openRemove) => (
                  <RowMenu
                    label={`Actions on ${user.email}`}
                    items={[
                      { label: 'New password', onClick: openReset },
                      ...(user.id === self.id ? [] : [{ label: 'Remove', onClick: openRemove, isDangerous: true }]),
                    ]}
                  />
                )}
              >
                Their sessions end at once, and invitations and password links that they made open nothing any more.
                What they did stays in the audit log.
              </Confirm>
            )}
          >
            Give it to that person. It works once, for {PASSWORD_RESET_HOURS_MAX} hours. The password until now works as
            long.
          </Confirm>
        </AdminOnly>
      ),
    },
  ];
  return (
    <Section title="People" about="An admin does everything; a viewer reads everything and changes nothing.">
      <PagedList query={users} onPage={onPage} label="People" columns={columns} empty="Nobody." />
    </Section>
  );
}

function Invitations({ onLink, onLinkOver }: LinksProps) {
  const queries = useQueryClient();
  const [page, setPage] = useState(1);
  const [isInviting, setIsInviting] = useState(false);
  const invitations = useQuery({
    ...read('/api/v1/invitations', { query: { page } }),
    placeholderData: keepPreviousData,
  });
  const takeBack = async (invitation: Invitation) => {
    const { id } = invitation;
    await send(client.DELETE('/api/v1/invitations/{id}', { params: { path: { id } } }));
    onLinkOver(titleOfInvitation(invitation));
    await invalidate(queries, '/api/v1/invitations');
  };
  const columns: Column<Invitation>[] = [
    { title: 'Email', cell: ({ email }) => email },
    { title: 'Role', cell: ({ role }) => role },
    { title: 'Open until', cell: ({ expires_at }) => <Time at={expires_at} />, isExtra: true },
    {
      title: 'Actions',
      isTitleHidden: true,
      isTight: true,
      cell: (invitation) => (
        <Confirm
          label="Take back"
          title={`Take the invitation of ${invitation.email} back?`}
          onConfirm={() => takeBack(invitation)}
          isDangerous
          trigger={(open) => (
            <RowMenu
              label={`Actions on the invitation of ${invitation.email}`}
              items={[{ label: 'Take back', onClick: open, isDangerous: true }]}
            />
          )}
        >
          Its link works no more.
        </Confirm>
      ),
    },
  ];
  return (
    <Section title="Invitations" actions={<Button onClick={() => setIsInviting(true)}>Invite somebody</Button>}>
      <PagedList
        query={invitations}
        onPage={setPage}
        label="Invitations"
        columns={columns}
        empty="Nobody is invited. An invitation is a link that works once, for 7 days; no mail server is needed."
      />
      {isInviting && <InviteForm onLink={onLink} onClose={() => setIsInviting(false)} />}
    </Section>
  );
}

function InviteForm({ onLink, onClose }: LinkProps & { onClose: () => void }) {
  const queries = useQueryClient();
  const form = useForm<{ email: string; role: User['role'] }>({
    name: 'invitation',
    initial: { email: '', role: 'viewer' },
    async onSubmit({ email, role }) {
      const made = await send(client.POST('/api/v1/invitations', { body: { email: email.trim(), role } }));
      onClose();
      onLink({ ...made, title: titleOfInvitation(made) });
      void invalidate(queries, '/api/v1/invitations');
    },
  });
  return (
    <FormDialog title="Invite somebody" submitLabel="Make the invitation" form={form} onClose={onClose}>
      <TextInput type="email" label="Email" required data-autofocus {...form.field('email')} />
      <Select
        label="Role"
        data={[
          { value: 'viewer', label: 'Viewer: reads everything, changes nothing' },
          { value: 'admin', label: 'Admin: does everything' },
        ]}
        allowDeselect={false}
        {...form.field('role')}
      />
    </FormDialog>
  );
}
