import '@mantine/core/styles/Radio.css';
import { Radio, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { client, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useForm } from '../components/forms/form.tsx';
import { ROLES } from './roles.ts';

type ServiceAccount = Schema<'ServiceAccount'>;

interface AccountFormProps {
  /** The one to change; without it a new one is made. */
  account?: ServiceAccount;
  onSaved: (account: ServiceAccount) => void;
  onClose: () => void;
}

export function AccountForm({ account, onSaved, onClose }: AccountFormProps) {
  const queries = useQueryClient();
  const form = useForm({
    ...(account === undefined && { name: 'service-account' }),
    initial: { name: account?.name ?? '', role: account?.role ?? 'biller' },
    async onSubmit({ name, role }) {
      const body = { name: name.trim(), role };
      const saved =
        account === undefined
          ? await send(client.POST('/api/v1/service-accounts', { body }))
          : await send(client.PATCH('/api/v1/service-accounts/{id}', { params: { path: { id: account.id } }, body }));
      await invalidate(queries, '/api/v1/service-accounts', '/api/v1/service-accounts/{id}');
      onSaved(saved);
    },
  });
  return (
    <FormDialog
      title={account === undefined ? 'New service account' : `Edit ${account.name}`}
      submitLabel={account === undefined ? 'Create the account' : 'Save'}
      form={form}
      onClose={onClose}
    >
      <TextInput label="Name" placeholder="Provisioning" data-autofocus required {...form.field('name')} />
      <Radio.Group label="Role" {...form.field('role')}>
        <div className="choices">
          {ROLES.map(({ value, label, about }) => (
            <Radio key={value} value={value} label={label} description={about} />
          ))}
        </div>
      </Radio.Group>
    </FormDialog>
  );
}
