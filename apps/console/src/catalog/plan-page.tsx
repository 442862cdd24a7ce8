import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { useOnward } from '../components/dialogs/leaving.ts';
import type { Column } from '../components/lists/data-table.tsx';
import { Facts } from '../components/lists/facts.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Page, Section } from '../components/page/page.tsx';
import { ThingPage } from '../components/page/thing-page.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { RowsByPage } from '../components/lists/rows-by-page.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { ChargePrice } from './charge-price.tsx';
import { timeWords } from './charge-time.ts';

type Plan = Schema<'PlanWithFeatures'>;
type Charge = Schema<'Charge'>;
type Feature = Schema<'Feature'>;
type PlanFeature = Plan['features'][number];

const ABOVE = <Link to="/plans">Plans</Link>;

export function PlanPage() {
  const { planId } = useParams({ from: '/shell/plans/$planId' });
  const plan = useQuery(read('/api/v1/plans/{id}', { path: { id: planId } }));
  const billing = useQuery(read('/api/v1/billing/settings'));
  return (
    <ThingPage query={plan} of="Plan" above={ABOVE}>
      {(data) => (
        <ThingPage query={billing} of="Plan" above={ABOVE}>
          {({ time_zone: zone }) => <PlanView plan={data} zone={zone} />}
        </ThingPage>
      )}
    </ThingPage>
  );
}

interface PlanViewProps {
  plan: Plan;
  /** In which a day begins from which a price is announced. */
  zone: string;
}

function PlanView({ plan, zone }: PlanViewProps) {
  return (
    <Page
      title={plan.name}
      above={ABOVE}
      about={plan.description ?? undefined}
      actions={
        <AdminOnly>
          <Link to="/plans/$planId/edit" params={{ planId: plan.id }} className="link-button">
            Edit
          </Link>
          <PlanMenu plan={plan} />
        </AdminOnly>
      }
    >
      <Facts
        of={[
          ['Lookup ID', <code key="id">{plan.lookup_id}</code>],
          ['Billed', `every ${plan.billing_interval} in ${plan.currency}`],
          ['Trial', plan.trial_days === 0 ? 'none' : `${plan.trial_days} days`],
          ['New subscriptions', plan.is_active ? 'yes' : 'no'],
        ]}
      />
      <Charges plan={plan} zone={zone} />
      <PlanFeatures plan={plan} />
    </Page>
  );
}

function PlanMenu({ plan: { id, name } }: { plan: Plan }) {
  const navigate = useNavigate();
  const onward = useOnward();
  const queries = useQueryClient();
  const remove = async () => {
    await send(client.DELETE('/api/v1/plans/{id}', { params: { path: { id } } }));
    await onward({ to: '/plans' });
    await invalidate(queries, '/api/v1/plans');
  };
  return (
    <Confirm
      label="Delete"
      title={`Delete ${name}?`}
      onConfirm={remove}
      isDangerous
      trigger={(open) => (
        <RowMenu
          label="More actions"
          items={[
            { label: 'Duplicate', onClick: () => void navigate({ to: '/plans/new', search: { copy: id } }) },
            { label: 'Delete', onClick: open, isDangerous: true },
          ]}
        />
      )}
    >
      A plan that has had a subscription cannot be deleted: switch off that it takes new ones instead.
    </Confirm>
  );
}

function Charges({ plan, zone }: PlanViewProps) {
  const columns: Column<Charge>[] = [
    {
      title: 'Charge',
      cell: ({ display_name, meter_id }) =>
        meter_id === null ? (
          display_name
        ) : (
          <Link to="/meters/$meterId" params={{ meterId: meter_id }}>
            {display_name}
          </Link>
        ),
    },
    {
      title: 'Price',
      cell: (charge) => (
        <ChargePrice
          charge={charge}
          currency={plan.currency}
          interval={plan.billing_interval}
          name={charge.display_name}
          note={timeWords(charge, zone)}
        />
      ),
    },
  ];
  const active = plan.charges.filter(({ status }) => status === 'ACTIVE');
  const ended = plan.charges.filter(({ status }) => status !== 'ACTIVE');
  return (
    <Section title="Charges">
      <RowsByPage
        label="Charges"
        columns={columns}
        rows={active}
        keyOf={({ id }) => id}
        empty="The plan costs nothing yet: Edit adds charges."
      />
      {ended.length > 0 && (
        <details className="more">
          <summary>Archived charges ({plan.ended_charges_total ?? ended.length})</summary>
          {plan.ended_charges_total === undefined ? (
            <RowsByPage label="Archived charges" columns={columns} rows={ended} keyOf={({ id }) => id} empty={null} />
          ) : (
            <EndedCharges planId={plan.id} columns={columns} />
          )}
        </details>
      )}
    </Section>
  );
}

/** Those of a plan that has more of them than it is read with. */
function EndedCharges({ planId: id, columns }: { planId: string; columns: Column<Charge>[] }) {
  const [page, setPage] = useState(1);
  const charges = useQuery({
    ...read('/api/v1/plans/{id}/charges', { path: { id }, query: { status: 'INACTIVE', page } }),
    placeholderData: keepPreviousData,
  });
  return <PagedList query={charges} onPage={setPage} label="Archived charges" columns={columns} empty={null} />;
}

function PlanFeatures({ plan }: { plan: Plan }) {
  const catalog = useQuery(read('/api/v1/features'));
  return (
    <Section title="Features and limits">
      <Loaded query={catalog} rows={3}>
        {({ data: features }) => (
          <RowsByPage
            label="Features and limits"
            columns={[
              {
                title: 'Feature',
                cell: (included) => featureOf(included, features)?.name ?? 'Feature',
              },
              {
                title: 'What the plan gives',
                cell: (included) => describeLimit(included, featureOf(included, features)?.type),
              },
            ]}
            rows={plan.features}
            keyOf={({ feature_id }) => feature_id}
            empty="The plan includes no feature: whoever asks for entitlements is told that its customers may use none."
          />
        )}
      </Loaded>
    </Section>
  );
}

function featureOf({ feature_id }: PlanFeature, features: readonly Feature[]): Feature | undefined {
  return features.find(({ id }) => id === feature_id);
}

function describeLimit(included: PlanFeature, type: Feature['type'] | undefined): string {
  const { is_enabled, usage_limit, usage_reset_period, is_soft_limit, static_value } = included;
  if (!is_enabled) return 'off';
  if (static_value !== null) return static_value;
  if (type !== undefined && type !== 'meter') return 'on';
  if (usage_limit === null) return 'unlimited';
  const reset = usage_reset_period === null ? 'in all' : `each ${usage_reset_period}`;
  return `${formatDecimal(usage_limit)} ${reset}${is_soft_limit ? ', may go past it' : ''}`;
}
