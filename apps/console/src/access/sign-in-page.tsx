import { PasswordInput, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { client, read, send } from '../api/client.ts';
import { noteSession } from '../api/session-end.ts';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { Door } from './door.tsx';

export function SignInPage() {
  const { return: wanted } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useForm({
    initial: { email: '', password: '' },
    onSubmit: async (body) => {
      await send(client.POST('/api/v1/auth/login', { body }));
      noteSession();
      // Whoever was here before read things that are not this person's.
      queries.clear();
      // Only an address of this page: one that names another host would lead there.
      await navigate({ href: wanted !== undefined && /^\/(?![/\\])/.test(wanted) ? wanted : '/' });
    },
  });
  return (
    <Door title="Sign in">
      <FormBox form={form} submitLabel="Sign in">
        <TextInput label="Email" type="email" autoComplete="username" autoFocus size="sm" {...form.field('email')} />
        <PasswordInput label="Password" autoComplete="current-password" size="sm" {...form.field('password')} />
      </FormBox>
      <SignInHelp />
    </Door>
  );
}

/** Only what works here is offered; while that is not known, its room is kept, so that nothing moves. */
function SignInHelp() {
  const { data } = useQuery(read('/api/v1/auth/options'));
  return (
    <p className="door-foot door-options">
      {data !== undefined && (
        <>
          {data.password_mail ? (
            <Link to="/password-reset">Forgot your password?</Link>
          ) : (
            'Forgot your password? Ask an admin of your organization for a link.'
          )}
          {data.sign_up && (
            <>
              <br />
              First here? <Link to="/sign-up">Create an organization</Link>
            </>
          )}
        </>
      )}
    </p>
  );
}
