import { PasswordInput, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { client, send } from '../api/client.ts';
import { FormBox, useForm } from '../parts/form.tsx';
import { Door } from './door.tsx';

/** Makes an organization. Whether that is open is a setting of the API (SIGNUP), which says so when it is not. */
export function SignUpPage() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useForm({
    name: 'sign-up',
    secret: ['password'],
    initial: { organization_name: '', email: '', password: '' },
    onSubmit: async (body) => {
      await send(client.POST('/api/v1/auth/signup', { body }));
      queries.clear();
      await navigate({ to: '/' });
    },
  });
  return (
    <Door title="Create an organization" about="You will be its first admin, and can invite others.">
      <FormBox form={form} submitLabel="Create it">
        <TextInput label="Organization" autoFocus size="sm" {...form.text('organization_name')} />
        <TextInput label="Email" type="email" autoComplete="username" size="sm" {...form.text('email')} />
        <PasswordInput
          label="Password"
          description="12 characters or more"
          autoComplete="new-password"
          size="sm"
          {...form.text('password')}
        />
      </FormBox>
      <p className="door-foot">
        Have an account? <Link to="/sign-in">Sign in</Link>
      </p>
    </Door>
  );
}
