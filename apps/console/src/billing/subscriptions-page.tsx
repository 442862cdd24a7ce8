import { Button, Select } from '@mantine/core';
import { useState } from 'react';
import type { Schema } from '../api/client.ts';
import { useOnward } from '../components/dialogs/leaving.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Page } from '../components/page/page.tsx';
import { CustomerSelect } from '../customers/customer-select.tsx';
import { useSearchState, useSorting } from '../components/lists/search-state.ts';
import { SubscribeForm } from './subscribe-form.tsx';
import { SUBSCRIPTION_SORTS, SubscriptionList, SubscriptionsExport } from './subscription-list.tsx';

const STATUSES = ['SCHEDULED', 'TRIAL', 'ACTIVE', 'PAST_DUE', 'CANCELED'] as const;

/** Of a subscription of which the run could not bill something. */
const FAILED = 'failed';

export function SubscriptionsPage() {
  const onward = useOnward();
  const { state, change, page, setPage } = useSearchState<'status' | 'billing' | 'customer'>();
  const [isNew, setIsNew] = useState(false);
  const status = state.status as Schema<'Subscription'>['status'] | undefined;
  const { sorting, sorted } = useSorting(SUBSCRIPTION_SORTS);
  const isFailed = state.billing === FAILED;
  const filter = {
    ...sorted,
    ...(status !== undefined && { status }),
    ...(state.customer !== undefined && { customer_id: state.customer }),
    ...(isFailed && { has_run_error: 'true' as const }),
  };
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
        <CustomerSelect value={state.customer ?? null} onChange={(customer) => change({ customer })} isClearable />
        <Select
          label="Status"
          placeholder="Any"
          data={STATUSES.map((value) => ({ value, label: value.toLowerCase().replace('_', ' ') }))}
          value={status ?? null}
          onChange={(value) => change({ status: value })}
          clearable
        />
        <Select
          label="Billing"
          placeholder="Any"
          data={[{ value: FAILED, label: 'billing failed' }]}
          value={isFailed ? FAILED : null}
          onChange={(value) => change({ billing: value })}
          clearable
        />
      </div>
      {isFailed && (
        <p className="muted">
          Something of each could not be billed when it was last tried: a period, or a draft. It is tried again within
          minutes, or within hours where a worker died of it. Why it failed is in the log of the workers.
        </p>
      )}
      <SubscriptionList filter={{ page, ...filter }} onPage={setPage} sorting={sorting} />
      {isNew && (
        <SubscribeForm
          onClose={() => setIsNew(false)}
          onDone={({ id }) => void onward({ to: '/subscriptions/$subscriptionId', params: { subscriptionId: id } })}
        />
      )}
    </Page>
  );
}
