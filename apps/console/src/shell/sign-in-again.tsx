// The sign-in over a page whose session has ended. What was typed there stays, and can be sent afterwards.

import { Modal, PasswordInput, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { client, send } from '../api/client.ts';
import { noteSession } from '../api/session-end.ts';
import { loadForAnother, tellTabs, useSession } from '../api/session.ts';
import { useFocusBack } from '../components/dialogs/dialog.tsx';
import { FormBox, useForm } from '../components/forms/form.tsx';

/** Escape would close the dialog below, and lose what was typed in it. */
const KEEPS_ESCAPE = { 'data-mantine-stop-propagation': 'true' };

const nothing = (): void => {};

export function SignInAgain() {
  const queries = useQueryClient();
  useFocusBack();
  // It goes when there is a session again, be it by another tab: what was refused meanwhile is read then.
  useEffect(() => () => void queries.invalidateQueries(), [queries]);
  return (
    <Modal
      opened
      onClose={nothing}
      title="Your session has ended"
      withCloseButton={false}
      returnFocus={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      zIndex={400}
    >
      <SignInForm />
    </Modal>
  );
}

function SignInForm() {
  const { user } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({
    initial: { email: user.email, password: '' },
    onSubmit: async (body) => {
      const account = await send(client.POST('/api/v1/auth/login', { body }));
      // Whatever becomes of what is read next.
      tellTabs(account.user.id);
      if (account.user.id === user.id) return noteSession();
      // Somebody else must see nothing of what was read and typed before.
      await navigate({ to: '/', ignoreBlocker: true });
      queries.clear();
      loadForAnother();
    },
  });
  return (
    <FormBox form={form} submitLabel="Sign in">
      <p className="dialog-lead">Sign in again. What you have typed is still there, and can be sent then.</p>
      <TextInput label="Email" type="email" autoComplete="username" {...KEEPS_ESCAPE} {...form.field('email')} />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        data-autofocus
        {...KEEPS_ESCAPE}
        {...form.field('password')}
      />
    </FormBox>
  );
}
