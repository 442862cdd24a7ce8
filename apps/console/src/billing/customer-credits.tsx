// The credits of a customer: the balance, and the grants that it comes from.

import { Button, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Confirm } from '../components/dialogs/confirm.tsx';
import type { Column } from '../components/lists/data-table.tsx';
import { DateField } from '../components/forms/date-field.tsx';
import { formatAmount } from '../text/decimals.ts';
import { addDays, formatLastDay, isDay, startOfDay } from '../text/instants.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useForm } from '../components/forms/form.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { Section } from '../components/page/page.tsx';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';
import { plainDecimal, wholeNumber } from '../text/typed-text.ts';

type Credit = Schema<'Credit'>;

/** What is read again once credit was granted or voided. */
const OF_CREDITS = ['/api/v1/customers/{id}/credits', '/api/v1/credits'] as const;

export function CustomerCredits({ customerId }: { customerId: string }) {
  const customer = useQuery(read('/api/v1/customers/{id}', { path: { id: customerId } }));
  const settings = useQuery(read('/api/v1/billing/settings'));
  // Its days are those of its own zone, else of that of the organization: none is granted before that is known.
  return (
    <Loaded query={customer}>
      {({ time_zone: own }) => (
        <Loaded query={settings}>
          {({ time_zone: zone }) => <Credits customerId={customerId} zone={own ?? zone} />}
        </Loaded>
      )}
    </Loaded>
  );
}

function Credits({ customerId: id, zone }: { customerId: string; zone: string }) {
  const queries = useQueryClient();
  const [isGranting, setIsGranting] = useState(false);
  const [page, setPage] = useState(1);
  const credits = useQuery(read('/api/v1/customers/{id}/credits', { path: { id } }));
  const grants = useQuery({
    ...read('/api/v1/credits', { query: { customer_id: id, page } }),
    placeholderData: keepPreviousData,
  });
  const newest = useQuery(read('/api/v1/subscriptions', { query: { customer_id: id, page_size: 1 } }));
  const end = async (grant: Credit) => {
    await send(client.POST('/api/v1/credits/{id}/void', { params: { path: { id: grant.id } } }));
    await invalidate(queries, ...OF_CREDITS);
  };
  const columns: Column<Credit>[] = [
    { title: 'Granted', cell: ({ created_at }) => <Time at={created_at} as="date" />, isTight: true },
    { title: 'Status', cell: ({ status }) => <Status of={status} />, isTight: true },
    { title: 'Note', cell: ({ note }) => note, isExtra: true },
    {
      title: 'Last day',
      cell: ({ expires_at: at }) => (at === null ? 'none' : formatLastDay(at, zone)),
      isExtra: true,
    },
    { title: 'Amount', cell: ({ amount, currency }) => formatAmount(amount, currency), isNumber: true },
    { title: 'Remaining', cell: ({ remaining, currency }) => formatAmount(remaining, currency), isNumber: true },
    {
      title: 'Changes',
      isTitleHidden: true,
      isTight: true,
      cell: (grant) =>
        grant.status === 'ACTIVE' && (
          <AdminOnly>
            <Confirm
              label="Void credit"
              title={`Void ${formatAmount(grant.remaining, grant.currency)} of credit?`}
              onConfirm={() => end(grant)}
              isDangerous
              trigger={(open) => (
                <RowMenu
                  label={`Actions on the credit of ${formatAmount(grant.amount, grant.currency)}`}
                  items={[{ label: 'Void credit', onClick: open, isDangerous: true }]}
                />
              )}
            >
              What invoices drew of it stays drawn. The rest ends, for good.
            </Confirm>
          </AdminOnly>
        ),
    },
  ];
  return (
    <Loaded query={credits}>
      {({ balance }) => (
        <Section
          title={`Balance: ${balanceOf(balance)}`}
          actions={
            <AdminOnly>
              <Button loading={newest.isLoading} onClick={() => setIsGranting(true)}>
                Grant credit
              </Button>
            </AdminOnly>
          }
        >
          <PagedList
            query={grants}
            onPage={setPage}
            label="Credits"
            columns={columns}
            empty="No credit. What is granted is drawn by invoices when they are finalized."
          />
          {isGranting && (
            <GrantForm
              customerId={id}
              zone={zone}
              currency={newest.data?.data[0]?.currency ?? Object.keys(balance)[0] ?? ''}
              onClose={() => setIsGranting(false)}
            />
          )}
        </Section>
      )}
    </Loaded>
  );
}

function balanceOf(balance: Record<string, string>): string {
  const amounts = Object.entries(balance).map(([currency, amount]) => formatAmount(amount, currency));
  return amounts.join(', ') || 'none';
}

interface GrantFormProps {
  customerId: string;
  zone: string;
  /** In which the customer is billed, as far as that is known: invoices of another one draw nothing of it. */
  currency: string;
  onClose: () => void;
}

function GrantForm({ customerId, zone, currency: billedIn, onClose }: GrantFormProps) {
  const queries = useQueryClient();
  const form = useForm({
    name: `credit-${customerId}`,
    initial: { amount: '', currency: billedIn, expires_on: '', priority: '0', note: '' },
    async onSubmit({ amount, currency, expires_on, priority, note }) {
      const body = {
        amount: plainDecimal(amount),
        currency: currency.trim().toUpperCase(),
        // The day that is named still counts.
        expires_at: isDay(expires_on) ? startOfDay(addDays(expires_on, 1), zone) : expires_on || null,
        priority: wholeNumber(priority),
        note: note.trim() || null,
      };
      await send(client.POST('/api/v1/customers/{id}/credits', { params: { path: { id: customerId } }, body }));
      await invalidate(queries, ...OF_CREDITS);
      onClose();
    },
  });
  return (
    <FormDialog title="Grant credit" submitLabel="Grant" form={form} onClose={onClose}>
      <div className="form-row">
        <TextInput label="Amount" inputMode="decimal" required data-autofocus {...form.field('amount')} />
        <TextInput label="Currency" required {...form.field('currency')} />
        <DateField
          label="Last day"
          description={`In ${zone}; empty: it never expires`}
          {...form.field('expires_on', 'expires_at')}
        />
        <TextInput
          label="Priority"
          description="The smaller is drawn first"
          inputMode="numeric"
          {...form.field('priority')}
        />
      </div>
      <TextInput label="Note" {...form.field('note')} />
    </FormDialog>
  );
}
