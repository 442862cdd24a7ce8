import { PasswordInput, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client, send } from '../api/client.ts';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Time } from '../components/page/time.tsx';
import { Door } from './door.tsx';
import { linkToken } from './link-token.ts';

/** To look at an invitation uses nothing up: only accepting it does. */
export function InvitationPage() {
  const [token] = useState(linkToken);
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => send(client.POST('/api/v1/auth/invitation', { body: { token } })),
  });
  return (
    <Door title="You are invited">
      <Loaded query={invitation} rows={5}>
        {({ email, organization_name: organization, role, expires_at: expiresAt }) => (
          <>
            <p className="door-about">
              Join <strong>{organization}</strong>{' '}
              {role === 'admin' ? 'as an admin.' : 'as a viewer, who may see everything and change nothing.'} The
              invitation ends on <Time at={expiresAt} as="date" />.
            </p>
            <AcceptForm token={token} email={email} />
          </>
        )}
      </Loaded>
      {/* What stands below comes after it, so that nothing moves. */}
      {!invitation.isPending && (
        <p className="door-foot">
          Have an account? <Link to="/sign-in">Sign in</Link>
        </p>
      )}
    </Door>
  );
}

function AcceptForm({ token, email }: { token: string; email: string }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useForm({
    initial: { password: '' },
    onSubmit: async ({ password }) => {
      await send(client.POST('/api/v1/auth/invitation/accept', { body: { token, password } }));
      queries.clear();
      await navigate({ to: '/', replace: true });
    },
  });
  return (
    <FormBox form={form} submitLabel="Join">
      <TextInput label="Email" value={email} readOnly autoComplete="username" size="sm" />
      <PasswordInput
        label="Choose a password"
        description="12 characters or more"
        autoComplete="new-password"
        autoFocus
        size="sm"
        {...form.field('password')}
      />
    </FormBox>
  );
}
