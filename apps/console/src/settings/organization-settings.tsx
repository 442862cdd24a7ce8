import { Select, Textarea, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { client, read, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { Facts } from '../components/lists/facts.tsx';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { timeZones } from '../text/instants.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { Section } from '../components/page/page.tsx';
import { wholeNumber } from '../text/typed-text.ts';
import { factsOfParty, SellerForm } from './seller-form.tsx';

type Billing = Schema<'BillingSettings'>;

export function OrganizationSettings() {
  const { isAdmin } = useSession();
  const organization = useQuery(read('/api/v1/organization'));
  const billing = useQuery(read('/api/v1/billing/settings'));
  return (
    <div className="columns">
      <Section title="Organization">
        <Loaded query={organization} rows={2}>
          {(data) => (isAdmin ? <NameForm name={data.name} /> : <Facts of={[['Name', data.name]]} />)}
        </Loaded>
      </Section>
      <Section
        title="Billing"
        about="For subscriptions, drafts and invoices that are made from now on. What is made keeps its own."
      >
        <Loaded query={billing} rows={6}>
          {(data) => (
            <>
              {isAdmin ? <BillingForm settings={data} /> : <BillingFacts settings={data} />}
              <Section
                title="Seller"
                about="Field by field, for electronic invoices. They are copied when an invoice is finalized, and printed in place of the issuer."
              >
                {isAdmin ? <SellerForm seller={data.seller} /> : <Facts of={factsOfParty(data.seller)} />}
              </Section>
            </>
          )}
        </Loaded>
      </Section>
    </div>
  );
}

function NameForm({ name }: { name: string }) {
  const queries = useQueryClient();
  const form = useForm({
    initial: { name },
    async onSubmit(body) {
      await send(client.PATCH('/api/v1/organization', { body }));
      await invalidate(queries, '/api/v1/organization', '/api/v1/auth/me');
      notify('The name is changed.');
    },
  });
  return (
    <FormBox form={form} submitLabel="Save name">
      <TextInput label="Name" description="It stands on invoices" required {...form.field('name')} />
    </FormBox>
  );
}

function BillingForm({ settings }: { settings: Billing }) {
  const queries = useQueryClient();
  const form = useForm({
    initial: {
      time_zone: settings.time_zone,
      invoice_grace_hours: String(settings.invoice_grace_hours),
      payment_terms_days: String(settings.payment_terms_days),
      invoice_prefix: settings.invoice_prefix,
      invoice_issuer: settings.invoice_issuer ?? '',
      finalize: settings.finalize,
    },
    async onSubmit({ time_zone, invoice_grace_hours, payment_terms_days, invoice_prefix, invoice_issuer, finalize }) {
      const body = {
        time_zone,
        finalize,
        invoice_grace_hours: wholeNumber(invoice_grace_hours),
        payment_terms_days: wholeNumber(payment_terms_days),
        invoice_prefix: invoice_prefix.trim(),
        invoice_issuer: invoice_issuer.trim() === '' ? null : invoice_issuer.trim(),
      };
      await send(client.PATCH('/api/v1/billing/settings', { body }));
      await invalidate(queries, '/api/v1/billing/settings');
      notify('The settings of billing are saved.');
    },
  });
  return (
    <FormBox form={form} submitLabel="Save billing settings">
      <Select
        label="Time zone"
        description="Of periods, where the customer has none of its own"
        data={timeZones()}
        limit={50}
        allowDeselect={false}
        searchable
        {...form.field('time_zone')}
      />
      <Select
        label="Finalize invoices"
        description="Also those that are drafts now; what is finalized has a number, and does not change any more"
        data={Object.entries(FINALIZE).map(([value, label]) => ({ value, label }))}
        allowDeselect={false}
        {...form.field('finalize')}
      />
      <TextInput
        label="Grace period (hours)"
        description="How long an invoice stays a draft after its period, or after it is made where that is later"
        inputMode="numeric"
        {...form.field('invoice_grace_hours')}
      />
      <TextInput
        label="Payment terms (days)"
        description="From the issue of an invoice until it is due"
        inputMode="numeric"
        {...form.field('payment_terms_days')}
      />
      <TextInput
        label="Prefix of invoice numbers"
        description={`Such as ${form.values.invoice_prefix || 'INV'}-2026-000042`}
        {...form.field('invoice_prefix')}
      />
      <Textarea
        label="Issuer"
        description="Who issues invoices, in the lines that stand on them: name, address, tax number"
        rows={4}
        {...form.field('invoice_issuer')}
      />
    </FormBox>
  );
}

const FINALIZE = {
  automatic: 'by themselves, when their grace is over',
  manual: 'by hand: they stay drafts until somebody finalizes them',
} as const satisfies Record<Billing['finalize'], string>;

function BillingFacts({ settings }: { settings: Billing }) {
  return (
    <Facts
      of={[
        ['Time zone', settings.time_zone],
        ['Invoices are finalized', FINALIZE[settings.finalize]],
        ['Grace period', `${settings.invoice_grace_hours} h`],
        ['Payment terms', `${settings.payment_terms_days} days`],
        ['Prefix of invoice numbers', settings.invoice_prefix],
        ['Issuer', settings.invoice_issuer ?? 'The name of the organization'],
      ]}
    />
  );
}
