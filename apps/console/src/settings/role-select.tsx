import { Select } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeShown, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { Question } from '../components/dialogs/question.tsx';

type User = Schema<'User'>;

/** The role of a person, changed where it stands once it is asked. A refusal, such as for the last admin, stands in the question. */
export function RoleSelect({ user }: { user: User }) {
  const queries = useQueryClient();
  const { user: self } = useSession();
  const [asked, setAsked] = useState<User['role']>();
  const close = () => setAsked(undefined);
  const params = { path: { id: user.id } };
  const change = async (role: User['role']): Promise<void> => {
    try {
      await changeShown('/api/v1/users/{id}', params, { role: user.role }, (PATCH) =>
        PATCH('/api/v1/users/{id}', { params, body: { role } }),
      );
      close();
    } finally {
      await invalidate(queries, '/api/v1/users', '/api/v1/invitations', '/api/v1/auth/me');
    }
  };
  return (
    <>
      <Select
        aria-label={`Role of ${user.email}`}
        data={['admin', 'viewer']}
        value={user.role}
        onChange={(role) => role !== null && role !== user.role && setAsked(role)}
        allowDeselect={false}
        w={110}
      />
      {asked === 'admin' && (
        <Dialog title={`Make ${user.email} an admin?`} onClose={close}>
          <Question label="Make an admin" onConfirm={() => change('admin')} onCancel={close}>
            An admin does everything, also who belongs to the organization.
          </Question>
        </Dialog>
      )}
      {asked === 'viewer' && (
        <Dialog title={`Make ${user.email} a viewer?`} onClose={close}>
          <Question label="Make a viewer" onConfirm={() => change('viewer')} isDangerous onCancel={close}>
            A viewer reads everything and changes nothing. Invitations and password links that this person made open
            nothing any more.{user.id === self.id && ' Only another admin can take this back.'}
          </Question>
        </Dialog>
      )}
    </>
  );
}
