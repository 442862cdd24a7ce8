// What a customer has in advance: the balance, and the grants that it comes from.

import { Button, Group, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, read, type Schema, send } from '../api/client.ts';
import { AdminOnly } from '../parts/admin-only.tsx';
import { formatAmount } from '../parts/decimals.ts';
import { FormModal } from '../parts/form-modal.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { Time } from '../parts/time.tsx';
import { StatusBadge } from './status-badge.tsx';

type Credit = Schema<'Credit'>;
type Dialog = 'grant' | Credit;

export function CustomerCredits({ customerId: id }: { customerId: string }) {
  const [dialog, setDialog] = useState<Dialog>();
  const credits = useQuery(read('/api/v1/customers/{id}/credits', { path: { id } }));
  const close = () => setDialog(undefined);
  return (
    <>
      <QueryView query={credits}>
        {({ balance, grants }) => (
          <>
            <Group justify="space-between" mb="sm">
              <Text>
                Balance{' '}
                <strong className="number">
                  {Object.entries(balance)
                    .map(([currency, amount]) => formatAmount(amount, currency))
                    .join(', ') || 'none'}
                </strong>
              </Text>
              <AdminOnly>
                <Button onClick={() => setDialog('grant')}>Grant credit</Button>
              </AdminOnly>
            </Group>
            {grants.length === 0 ? (
              <Text c="dimmed">No credit. Invoices draw it when they are finalized.</Text>
            ) : (
              <Grants grants={grants} onVoid={setDialog} />
            )}
          </>
        )}
      </QueryView>
      {dialog === 'grant' && <GrantForm customerId={id} onClose={close} />}
      {dialog !== undefined && dialog !== 'grant' && (
        <FormModal
          title={`Void ${formatAmount(dialog.remaining, dialog.currency)} of credit?`}
          submit="Void credit"
          isDangerous
          run={() => send(client.POST('/api/v1/credits/{id}/void', { params: { path: { id: dialog.id } } }))}
          refresh={['/api/v1/customers/{id}/credits']}
          onClose={close}
        >
          <Text size="sm">What invoices drew of it stays drawn. The rest ends, for good.</Text>
        </FormModal>
      )}
    </>
  );
}

function Grants({ grants, onVoid }: { grants: readonly Credit[]; onVoid(grant: Credit): void }) {
  return (
    <div className="table-scroll">
      <table className="table" aria-label="Credits">
        <thead>
          <tr>
            <th scope="col">Granted</th>
            <th scope="col">Status</th>
            <th scope="col" className="right">
              Amount
            </th>
            <th scope="col" className="right">
              Remaining
            </th>
            <th scope="col">Expires</th>
            <th scope="col">Note</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {grants.map((grant) => (
            <tr key={grant.id}>
              <td>
                <Time of={grant.created_at} isDate />
              </td>
              <td>
                <StatusBadge status={grant.status} />
              </td>
              <td className="right number">{formatAmount(grant.amount, grant.currency)}</td>
              <td className="right number">{formatAmount(grant.remaining, grant.currency)}</td>
              <td>{grant.expires_at === null ? 'never' : <Time of={grant.expires_at} />}</td>
              <td>{grant.note}</td>
              <td className="right">
                {grant.status === 'ACTIVE' && (
                  <AdminOnly>
                    <Button variant="subtle" color="red" size="compact-xs" onClick={() => onVoid(grant)}>
                      Void
                    </Button>
                  </AdminOnly>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function GrantForm({ customerId, onClose }: { customerId: string; onClose(): void }) {
  const [values, setValues] = useState({ amount: '', currency: 'USD', expires: '', priority: '0', note: '' });
  const field = (name: keyof typeof values) => ({
    value: values[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      setValues((before) => ({ ...before, [name]: value })),
  });
  const run = () =>
    send(
      client.POST('/api/v1/customers/{id}/credits', {
        params: { path: { id: customerId } },
        body: {
          amount: values.amount.replace(/[\s,]/g, ''),
          currency: values.currency.trim().toUpperCase(),
          // The date that is named still counts.
          expires_at: values.expires === '' ? null : new Date(`${values.expires}T24:00:00`).toISOString(),
          priority: (/^\d{1,9}$/.test(values.priority) ? Number(values.priority) : values.priority) as number,
          note: values.note.trim() || null,
        },
      }),
    );
  return (
    <FormModal
      title="Grant credit"
      submit="Grant"
      run={run}
      refresh={['/api/v1/customers/{id}/credits']}
      onClose={onClose}
    >
      {(errorOf) => (
        <div className="form-grid">
          <TextInput
            label="Amount"
            inputMode="decimal"
            error={errorOf('amount')}
            required
            data-autofocus
            {...field('amount')}
          />
          <TextInput label="Currency" error={errorOf('currency')} required {...field('currency')} />
          <TextInput
            type="date"
            label="Counts until"
            description="Empty: it never expires"
            error={errorOf('expires_at')}
            {...field('expires')}
          />
          <TextInput
            label="Priority"
            description="The smaller one is drawn first"
            inputMode="numeric"
            error={errorOf('priority')}
            {...field('priority')}
          />
          <TextInput label="Note" error={errorOf('note')} {...field('note')} />
        </div>
      )}
    </FormModal>
  );
}
