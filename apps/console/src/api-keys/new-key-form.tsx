import { Checkbox, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { client, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { FormBox, useForm } from '../components/forms/form.tsx';

type Scope = Schema<'ApiKey'>['scopes'][number];

const SCOPES: { scope: Scope; label: string; about: string }[] = [
  { scope: 'usage.write', label: 'Write usage', about: 'Track events and make tokens of the widget.' },
  { scope: 'usage.read', label: 'Read usage', about: 'Read usage, events, features, meters and customers.' },
];

/** Told to whoever has left before the key was there. */
export const lostKey = ({ name }: Schema<'CreatedApiKey'>): string =>
  `The key “${name}” was made while you were elsewhere, and nobody can show it again: delete it, and make another.`;

interface NewKeyFormProps {
  initialName?: string;
  onCreated: (key: Schema<'CreatedApiKey'>) => void;
  onCancel?: () => void;
}

export function NewKeyForm({ initialName = '', onCreated, onCancel }: NewKeyFormProps) {
  const queries = useQueryClient();
  const form = useForm({
    name: 'api-key',
    initial: { name: initialName, scopes: ['usage.write'] as Scope[] },
    onSubmit: async (body) => {
      const created = await send(client.POST('/api/v1/api-keys', { body }));
      // It is shown at once, whatever becomes of the list.
      onCreated(created);
      void invalidate(queries, '/api/v1/api-keys');
    },
  });
  return (
    <FormBox form={form} submitLabel="Create the key" onCancel={onCancel} isShownOnce>
      <TextInput label="Name" placeholder="Backend, production" data-autofocus {...form.field('name')} />
      <Checkbox.Group label="Scopes" {...form.field('scopes')}>
        <div className="choices">
          {SCOPES.map(({ scope, label, about }) => (
            <Checkbox key={scope} value={scope} label={label} description={about} />
          ))}
        </div>
      </Checkbox.Group>
    </FormBox>
  );
}
