import { PasswordInput, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { client, read, send } from '../api/client.ts';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Door } from './door.tsx';

/** Makes an organization, where that is open: a setting of the API (SIGNUP) says so. */
export function SignUpPage() {
  const options = useQuery(read('/api/v1/auth/options'));
  const isShut = options.data?.sign_up === false;
  return (
    <Door
      title="Create an organization"
      about={isShut ? undefined : 'You will be its first admin, and can invite others.'}
    >
      <Loaded query={options} rows={6}>
        {() => (isShut ? <SignUpShut /> : <SignUpForm />)}
      </Loaded>
      {/* What stands below comes after it, so that nothing moves. */}
      {!options.isPending && (
        <p className="door-foot">
          Have an account? <Link to="/sign-in">Sign in</Link>
        </p>
      )}
    </Door>
  );
}

function SignUpShut() {
  return (
    <p role="status">
      No organization can be made here now. Ask an admin of yours for an invitation; or, if this Weir is yours, start it
      with <code>SIGNUP=open</code> for as long as you sign up.
    </p>
  );
}

function SignUpForm() {
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
    <FormBox form={form} submitLabel="Create it">
      <TextInput label="Organization" autoFocus size="sm" {...form.field('organization_name')} />
      <TextInput label="Email" type="email" autoComplete="username" size="sm" {...form.field('email')} />
      <PasswordInput
        label="Password"
        description="12 characters or more"
        autoComplete="new-password"
        size="sm"
        {...form.field('password')}
      />
    </FormBox>
  );
}
