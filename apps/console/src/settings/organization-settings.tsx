import { Select, Textarea, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { read, type Opened, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { Facts } from '../components/lists/facts.tsx';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { ToChange } from '../components/forms/to-change.tsx';
import { timeZones } from '../text/instants.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { Section } from '../components/page/page.tsx';
import { wholeNumber } from '../text/typed-text.ts';
import { factsOfParty, SellerForm } from './seller-form.tsx';

type Billing = Schema<'BillingSettings'>;

export function OrganizationSettings() {
  const { isAdmin } = useSession();
  return (
    <div className="columns">
      <Section title="Organization">
        {isAdmin ? (
          <ToChange path="/api/v1/organization" rows={2}>
            {(opened) => <NameForm opened={opened} />}
          </ToChange>
        ) : (
          <Name />
        )}
      </Section>
      <Section
        title="Billing"
        about="For subscriptions, drafts and invoices that are made from now on. What is made keeps its own."
      >
        {isAdmin ? (
          <ToChange path="/api/v1/billing/settings" rows={6}>
            {(opened) => (
              <>
                <BillingForm opened={opened} />
                {/* Opened by itself: what the form above saves is no change by somebody else. */}
                <Seller>
                  <ToChange path="/api/v1/billing/settings" rows={6}>
                    {(ofSeller) => <SellerForm opened={ofSeller} />}
                  </ToChange>
                </Seller>
              </>
            )}
          </ToChange>
        ) : (
          <BillingSettings />
        )}
      </Section>
    </div>
  );
}

function Name() {
  const organization = useQuery(read('/api/v1/organization'));
  return (
    <Loaded query={organization} rows={2}>
      {({ name }) => <Facts of={[['Name', name]]} />}
    </Loaded>
  );
}

function BillingSettings() {
  const billing = useQuery(read('/api/v1/billing/settings'));
  return (
    <Loaded query={billing} rows={6}>
      {(settings) => (
        <>
          <BillingFacts settings={settings} />
          <Seller>
            <Facts of={factsOfParty(settings.seller)} />
          </Seller>
        </>
      )}
    </Loaded>
  );
}

function Seller({ children }: { children: ReactNode }) {
  return (
    <Section
      title="Seller"
      about="Field by field, for electronic invoices. They are copied when an invoice is finalized, and printed in place of the issuer."
    >
      {children}
    </Section>
  );
}

function NameForm({ opened }: { opened: Opened<Schema<'Organization'>> }) {
  const queries = useQueryClient();
  const form = useForm({
    initial: { name: opened.data.name },
    reload: async () => ({ name: (await opened.reload()).name }),
    async onSubmit(body) {
      await opened.change((PATCH) => PATCH('/api/v1/organization', { body }));
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

const valuesOf = (settings: Billing) => ({
  time_zone: settings.time_zone,
  invoice_grace_hours: String(settings.invoice_grace_hours),
  payment_terms_days: String(settings.payment_terms_days),
  invoice_prefix: settings.invoice_prefix,
  invoice_issuer: settings.invoice_issuer ?? '',
  finalize: settings.finalize,
});

function BillingForm({ opened }: { opened: Opened<Billing> }) {
  const queries = useQueryClient();
  const form = useForm({
    initial: valuesOf(opened.data),
    reload: async () => valuesOf(await opened.reload()),
    async onSubmit({ time_zone, invoice_grace_hours, payment_terms_days, invoice_prefix, invoice_issuer, finalize }) {
      const body = {
        time_zone,
        finalize,
        invoice_grace_hours: wholeNumber(invoice_grace_hours),
        payment_terms_days: wholeNumber(payment_terms_days),
        invoice_prefix: invoice_prefix.trim(),
        invoice_issuer: invoice_issuer.trim() === '' ? null : invoice_issuer.trim(),
      };
      await opened.change((PATCH) => PATCH('/api/v1/billing/settings', { body }));
      await invalidate(queries, '/api/v1/billing/settings');
      notify('The settings of billing are saved.');
    },
  });
  return (
    <FormBox form={form} submitLabel="Save billing settings">
      <Select
        label="Time zone"
        description="Of periods, where the customer has none of its own"
        data={timeZones(opened.data.time_zone)}
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
