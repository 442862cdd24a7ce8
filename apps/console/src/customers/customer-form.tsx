import { Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { client, send, type Opened, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { ChangedId } from '../components/forms/changed-id.tsx';
import { useForm } from '../components/forms/form.tsx';
import { timeZones } from '../text/instants.ts';

type Customer = Schema<'Customer'>;

interface CustomerFormProps {
  /** The customer to change; without it, a new one is made. */
  opened?: Opened<Customer>;
  onDone?: (customer: Customer) => void;
  onClose: () => void;
}

/** What Weir says of a customer, what has a control of its own, and what services fill in. */
type NotTyped = 'id' | 'created_at' | 'erased_at' | 'time_zone' | 'metadata';

const FIELDS = {
  name: 'Name',
  external_id: 'External ID',
  email: 'Email',
  phone: 'Phone',
  legal_name: 'Legal name',
  tax_id: 'Tax ID',
  billing_address_line1: 'Street',
  billing_address_line2: 'Street, second line',
  billing_address_postal_code: 'Postal code',
  billing_address_city: 'City',
  billing_address_state: 'State',
  billing_address_country: 'Country',
  billing_country_code: 'Country code',
} as const satisfies Record<Exclude<keyof Customer, NotTyped>, string>;

type Field = keyof typeof FIELDS;

const PLACEHOLDERS: { [Name in Field]?: string } = {
  external_id: 'What your services call it',
  legal_name: 'On invoices; else the name',
  billing_country_code: 'Two letters, such as DE',
};

const fields = Object.entries(FIELDS) as [Field, string][];

type Values = Record<Field, string> & Pick<Customer, 'time_zone'>;

function valuesOf(customer: Customer | undefined): Values {
  const texts = Object.fromEntries(fields.map(([field]) => [field, customer?.[field] ?? ''])) as Record<Field, string>;
  return { ...texts, time_zone: customer?.time_zone ?? null };
}

export function CustomerForm({ opened, onDone, onClose }: CustomerFormProps) {
  const queries = useQueryClient();
  const customer = opened?.data;
  const form = useForm<Values>({
    ...(customer === undefined && { name: 'customer' }),
    initial: valuesOf(customer),
    reload: opened && (async () => valuesOf(await opened.reload())),
    async onSubmit({ external_id: typedId, time_zone, ...others }, known) {
      // Ids are compared to the letter, also white space at their ends: one that nobody typed is not to become another.
      const external_id = typedId === known.external_id ? typedId : typedId.trim();
      const body = {
        ...Object.fromEntries(Object.entries(others).map(([field, value]) => [field, value.trim() || null])),
        // Without one a new customer is given one. One that is there cannot be taken away, and the API says so.
        ...((opened !== undefined || external_id !== '') && { external_id }),
        time_zone,
      };
      const saved = await (opened === undefined
        ? send(client.POST('/api/v1/customers', { body }))
        : opened.change((PATCH) =>
            PATCH('/api/v1/customers/{id}', { params: { path: { id: opened.data.id } }, body }),
          ));
      await invalidate(queries, '/api/v1/customers', '/api/v1/customers/{id}');
      onClose();
      onDone?.(saved);
    },
  });
  return (
    <FormDialog
      title={customer === undefined ? 'New customer' : 'Edit the customer'}
      submitLabel={customer === undefined ? 'Create customer' : 'Save'}
      size="lg"
      form={form}
      onClose={onClose}
    >
      <div className="form-row is-wide">
        {fields.map(([field, label]) => (
          <TextInput
            key={field}
            label={label}
            {...(field === 'name' && { 'data-autofocus': true })}
            {...(field in PLACEHOLDERS && { placeholder: PLACEHOLDERS[field] })}
            autoComplete="off"
            {...form.field(field)}
          />
        ))}
        <Select
          label="Time zone of billing"
          placeholder="That of the organization"
          data={timeZones(customer?.time_zone ?? null)}
          limit={50}
          searchable
          clearable
          {...form.field('time_zone')}
        />
      </div>
      <ChangedId before={customer?.external_id} typed={form.values.external_id}>
        Usage under <code>{customer?.external_id}</code> stays there, also what services go on sending, and is not of
        this customer any more. Its widget tokens end. <code>POST /usage-moves</code> takes usage along.
      </ChangedId>
    </FormDialog>
  );
}
