import { Button, Select } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../api/client.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Page } from '../components/page/page.tsx';
import { useSearchState, useSorting } from '../components/lists/search-state.ts';
import { SubscribeForm } from './subscribe-form.tsx';
import { SUBSCRIPTION_SORTS, SubscriptionList, SubscriptionsExport } from './subscription-list.tsx';

const STATUSES = ['SCHEDULED', 'TRIAL', 'ACTIVE', 'PAST_DUE', 'CANCELED'] as const;

export function SubscriptionsPage() {
  const navigate = useNavigate();
  const { state, change, page, setPage } = useSearchState<'status'>();
  const [isNew, setIsNew] = useState(false);
  const status = state.status as Schema<'Subscription'>['status'] | undefined;
  const { sorting, sorted } = useSorting(SUBSCRIPTION_SORTS);
  const filter = { ...sorted, ...(status !== undefined && { status }) };
  return (
    <Page
      title="Subscriptions"
      about="Customers on plans. From its start on, a subscription’s usage is billed."
      actions={
        <>
          <SubscriptionsExport filter={filter} />
          <AdminOnly>
            <Button onClick={() => setIsNew(true)}>New subscription</Button>
          </AdminOnly>
        </>
      }
    >
      <div className="toolbar">
        <Select
          aria-label="Status"
          placeholder="Any status"
          data={STATUSES.map((value) => ({ value, label: value.toLowerCase().replace('_', ' ') }))}
          value={status ?? null}
          onChange={(value) => change({ status: value })}
          clearable
        />
      </div>
      <SubscriptionList filter={{ page, ...filter }} onPage={setPage} sorting={sorting} />
      {isNew && (
        <SubscribeForm
          onClose={() => setIsNew(false)}
          onDone={({ id }) => void navigate({ to: '/subscriptions/$subscriptionId', params: { subscriptionId: id } })}
        />
      )}
    </Page>
  );
}
