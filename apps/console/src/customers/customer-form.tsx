import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { client, type Schema, send } from '../api/client.ts';
import { FormModal } from '../parts/form-modal.tsx';
import { timeZones } from '../parts/instants.ts';

type Customer = Schema<'Customer'>;

interface CustomerFormProps {
  /** The customer to change; without it, a new one is made. */
  customer?: Customer;
  onDone?(customer: Customer): void;
  onClose(): void;
}

const FIELDS = [
  ['name', 'Name'],
  ['external_id', 'External id'],
  ['email', 'Email'],
  ['phone', 'Phone'],
  ['billing_address_line1', 'Street'],
  ['billing_address_postal_code', 'Postal code'],
  ['billing_address_city', 'City'],
  ['billing_address_state', 'State'],
  ['billing_address_country', 'Country'],
] as const;

type Field = (typeof FIELDS)[number][0];

export function CustomerForm({ customer, onDone, onClose }: CustomerFormProps) {
  const [values, setValues] = useState(
    () => Object.fromEntries(FIELDS.map(([field]) => [field, customer?.[field] ?? ''])) as Record<Field, string>,
  );
  const [zone, setZone] = useState(customer?.time_zone ?? null);
  const run = () => {
    const { external_id, ...others } = values;
    const body = {
      ...Object.fromEntries(Object.entries(others).map(([field, value]) => [field, value.trim() || null])),
      ...(external_id.trim() !== '' && { external_id: external_id.trim() }),
      time_zone: zone,
    };
    return customer === undefined
      ? send(client.POST('/api/v1/customers', { body }))
      : send(client.PATCH('/api/v1/customers/{id}', { params: { path: { id: customer.id } }, body }));
  };
  return (
    <FormModal
      title={customer === undefined ? 'New customer' : 'Change the customer'}
      submit={customer === undefined ? 'Create customer' : 'Save'}
      size="lg"
      run={run}
      refresh={['/api/v1/customers', '/api/v1/customers/{id}']}
      onDone={(saved) => onDone?.(saved)}
      onClose={onClose}
    >
      {(errorOf) => (
        <div className="form-grid">
          {FIELDS.map(([field, label]) => (
            <TextInput
              key={field}
              label={label}
              description={field === 'external_id' ? 'What your services call it when they track usage' : undefined}
              value={values[field]}
              onChange={({ currentTarget: { value } }) => setValues((before) => ({ ...before, [field]: value }))}
              error={errorOf(field)}
              autoComplete="off"
              data-autofocus={field === 'name' || undefined}
            />
          ))}
          <Select
            label="Time zone"
            description="In which later subscriptions are billed"
            placeholder="That of the organization"
            data={timeZones()}
            value={zone}
            onChange={setZone}
            error={errorOf('time_zone')}
            searchable
            clearable
          />
        </div>
      )}
    </FormModal>
  );
}
