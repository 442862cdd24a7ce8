import { PasswordInput, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client, read, send } from '../api/client.ts';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Door } from './door.tsx';
import { linkToken } from './link-token.ts';

/** With the token of a link one chooses a new password; without one, the page sends such a link. */
export function PasswordResetPage() {
  const [token] = useState(linkToken);
  return token === '' ? <AskForLink /> : <NewPassword token={token} />;
}

function AskForLink() {
  const options = useQuery(read('/api/v1/auth/options'));
  const isMailed = options.data?.password_mail !== false;
  return (
    <Door
      title="Reset your password"
      about={isMailed ? 'You get a link by mail, with which you choose a new one.' : undefined}
    >
      <Loaded query={options} rows={3}>
        {() =>
          isMailed ? (
            <AskByMail />
          ) : (
            <p role="status">
              This Weir sends no mail. Ask an admin of your organization for a link with which you choose a new
              password.
            </p>
          )
        }
      </Loaded>
      {!options.isPending && (
        <p className="door-foot">
          <Link to="/sign-in">Back to the sign-in</Link>
        </p>
      )}
    </Door>
  );
}

function AskByMail() {
  const [sentTo, setSentTo] = useState<string | undefined>();
  const form = useForm({
    initial: { email: '' },
    onSubmit: async (body) => {
      await send(client.POST('/api/v1/auth/password-reset/request', { body }));
      setSentTo(body.email);
    },
  });
  if (sentTo !== undefined) {
    return <p role="status">If there is an account with {sentTo}, a mail with the link is on its way.</p>;
  }
  return (
    <FormBox form={form} submitLabel="Send the link">
      <TextInput label="Email" type="email" autoComplete="username" autoFocus size="sm" {...form.field('email')} />
    </FormBox>
  );
}

function NewPassword({ token }: { token: string }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useForm({
    initial: { new_password: '' },
    onSubmit: async ({ new_password: password }) => {
      await send(client.POST('/api/v1/auth/password-reset', { body: { token, new_password: password } }));
      queries.clear();
      await navigate({ to: '/', replace: true });
    },
  });
  return (
    <Door title="Choose a new password" about="Wherever you are signed in, you will be signed out.">
      <FormBox form={form} submitLabel="Set the password and sign in">
        <PasswordInput
          label="New password"
          description="12 characters or more"
          autoComplete="new-password"
          autoFocus
          size="sm"
          {...form.field('new_password')}
        />
      </FormBox>
      <p className="door-foot">
        <Link to="/sign-in">Back to the sign-in</Link>
      </p>
    </Door>
  );
}
