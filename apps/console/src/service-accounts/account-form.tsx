import '@mantine/core/styles/Radio.css';
import { Radio, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { client, send, type Opened, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useForm } from '../components/forms/form.tsx';
import { ROLES } from './roles.ts';

type ServiceAccount = Schema<'ServiceAccount'>;

interface AccountFormProps {
  /** The one to change; without it a new one is made. */
  opened?: Opened<ServiceAccount>;
  onSaved: (account: ServiceAccount) => void;
  onClose: () => void;
}

const valuesOf = (account: ServiceAccount | undefined) => ({
  name: account?.name ?? '',
  role: account?.role ?? 'biller',
});

export function AccountForm({ opened, onSaved, onClose }: AccountFormProps) {
  const queries = useQueryClient();
  const account = opened?.data;
  const form = useForm({
    ...(account === undefined && { name: 'service-account' }),
    initial: valuesOf(account),
    reload: opened && (async () => valuesOf(await opened.reload())),
    async onSubmit({ name, role }) {
      const body = { name: name.trim(), role };
      const saved = await (opened === undefined
        ? send(client.POST('/api/v1/service-accounts', { body }))
        : opened.change((PATCH) =>
            PATCH('/api/v1/service-accounts/{id}', { params: { path: { id: opened.data.id } }, body }),
          ));
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
