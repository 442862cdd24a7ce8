// Who sells, field by field, as it is copied onto invoices.

import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type Opened, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import type { Fact } from '../components/lists/facts.tsx';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { notify } from '../components/outcomes/notices.tsx';

type Party = Schema<'Party'>;

const FIELDS = {
  legal_name: 'Legal name',
  tax_id: 'Tax id',
  address_line1: 'Street',
  address_line2: 'Street, second line',
  postal_code: 'Postal code',
  city: 'City',
  state: 'State',
  country: 'Country code',
} as const satisfies Record<keyof Party, string>;

const fields = Object.entries(FIELDS) as [keyof Party, string][];

export function factsOfParty(party: Party | null): Fact[] {
  if (party === null) return [['Legal name', 'not given']];
  return fields.map(([field, label]) => [label, party[field]]);
}

const valuesOf = ({ seller }: Schema<'BillingSettings'>) =>
  Object.fromEntries(fields.map(([field]) => [field, seller?.[field] ?? ''])) as Record<keyof Party, string>;

export function SellerForm({ opened }: { opened: Opened<Schema<'BillingSettings'>> }) {
  const queries = useQueryClient();
  const form = useForm({
    initial: valuesOf(opened.data),
    reload: async () => valuesOf(await opened.reload()),
    async onSubmit(typed) {
      const texts = fields.map(([field]) => [field, typed[field].trim() || null]);
      const { legal_name, ...others } = Object.fromEntries(texts) as Party;
      const isEmpty = [legal_name, ...Object.values(others)].every((text) => text === null);
      const body = { seller: isEmpty ? null : { legal_name: legal_name ?? '', ...others } };
      await opened.change((PATCH) => PATCH('/api/v1/billing/settings', { body }));
      await invalidate(queries, '/api/v1/billing/settings');
      notify('The seller is saved.');
    },
  });
  return (
    <FormBox form={form} submitLabel="Save seller">
      {fields.map(([field, label]) => (
        <TextInput
          key={field}
          label={label}
          {...(field === 'country' && { description: 'Two letters of ISO 3166-1, such as DE' })}
          autoComplete="off"
          {...form.field(field, `seller.${field}`)}
        />
      ))}
    </FormBox>
  );
}
