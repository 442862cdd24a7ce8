import { PasswordInput, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { client, send } from '../api/client.ts';
import { setSessionOver } from '../api/session-end.ts';
import { FormBox, useForm } from '../parts/form.tsx';
import { Door } from './door.tsx';

export function SignInPage() {
  const { return: wanted } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useForm({
    initial: { email: '', password: '' },
    onSubmit: async (body) => {
      await send(client.POST('/api/v1/auth/login', { body }));
      setSessionOver(false);
      // Whoever was here before read things that are not this person's.
      queries.clear();
      // Only an address of this page: one that names another host would lead there.
      await navigate({ href: wanted !== undefined && /^\/(?![/\\])/.test(wanted) ? wanted : '/' });
    },
  });
  return (
    <Door title="Sign in">
      <FormBox form={form} submitLabel="Sign in">
        <TextInput label="Email" type="email" autoComplete="username" autoFocus size="sm" {...form.text('email')} />
        <PasswordInput label="Password" autoComplete="current-password" size="sm" {...form.text('password')} />
      </FormBox>
      <p className="door-foot">
        <Link to="/password-reset">Forgot your password?</Link>
        <br />
        First here? <Link to="/sign-up">Create an organization</Link>
      </p>
    </Door>
  );
}
