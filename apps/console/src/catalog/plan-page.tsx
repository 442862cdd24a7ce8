import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Confirm } from '../components/dialogs/confirm.tsx';
import type { Column } from '../components/lists/data-table.tsx';
import { Facts } from '../components/lists/facts.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Page, Section } from '../components/page/page.tsx';
import { RowsByPage } from '../components/lists/rows-by-page.tsx';
import { AddCharge } from './add-charge.tsx';
import { describeCharge } from './charge-words.ts';
import { PlanFeatures } from './plan-features.tsx';
import { PlanForm } from './plan-form.tsx';

type Plan = Schema<'PlanWithFeatures'>;
type Charge = Schema<'Charge'>;

export function PlanPage() {
  const { planId } = useParams({ strict: false }) as { planId: string };
  const plan = useQuery(read('/api/v1/plans/{id}', { path: { id: planId } }));
  return (
    <Loaded query={plan} rows={10}>
      {/* The types of the client leave out fields that are always null, such as the meter of a FIXED charge. */}
      {(data) => <PlanView plan={data as Plan} />}
    </Loaded>
  );
}

function PlanView({ plan }: { plan: Plan }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [isEdited, setIsEdited] = useState(false);
  const remove = async () => {
    await send(client.DELETE('/api/v1/plans/{id}', { params: { path: { id: plan.id } } }));
    await navigate({ to: '/plans' });
    await invalidate(queries, '/api/v1/plans');
  };
  return (
    <Page
      title={plan.name}
      above={<Link to="/plans">Plans</Link>}
      about={plan.description ?? undefined}
      actions={
        <AdminOnly>
          <Button variant="default" onClick={() => setIsEdited(true)}>
            Edit
          </Button>
          <Confirm label="Delete" title={`Delete ${plan.name}?`} onConfirm={remove} isDangerous>
            A plan that has had a subscription cannot be deleted: switch off that it takes new ones instead.
          </Confirm>
        </AdminOnly>
      }
    >
      <Facts
        of={[
          ['Lookup id', <code key="id">{plan.lookup_id}</code>],
          ['Billed', `every ${plan.billing_interval} in ${plan.currency}`],
          ['Trial', plan.trial_days === 0 ? 'none' : `${plan.trial_days} days`],
          ['New subscriptions', plan.is_active ? 'yes' : 'no'],
        ]}
      />
      <Charges plan={plan} />
      <PlanFeatures plan={plan} />
      {isEdited && <PlanForm plan={plan} isPriced={plan.charges.length > 0} onClose={() => setIsEdited(false)} />}
    </Page>
  );
}

function Charges({ plan }: { plan: Plan }) {
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<'new' | Charge>();
  const end = async ({ id }: Charge) => {
    const path = { id: plan.id, charge_id: id };
    await send(
      client.PATCH('/api/v1/plans/{id}/charges/{charge_id}', { params: { path }, body: { status: 'INACTIVE' } }),
    );
    await invalidate(queries, '/api/v1/plans/{id}');
  };
  const active = plan.charges.filter(({ status }) => status === 'ACTIVE');
  const ended = plan.charges.filter(({ status }) => status !== 'ACTIVE');
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
    { title: 'Price', cell: (charge) => describeCharge(charge, plan.currency, plan.billing_interval) },
  ];
  const buttons: Column<Charge> = {
    title: 'Changes',
    isTitleHidden: true,
    isTight: true,
    cell: (charge) => (
      <AdminOnly>
        <span className="row-actions">
          <Button
            variant="subtle"
            aria-label={`New price for ${charge.display_name}`}
            onClick={() => setDialog(charge)}
          >
            New price
          </Button>
          <Confirm
            label="Archive price"
            title={`Archive the price ${charge.display_name}?`}
            onConfirm={() => end(charge)}
            isDangerous
            trigger={(open) => (
              <Button variant="subtle" color="red" aria-label={`Archive ${charge.display_name}`} onClick={open}>
                Archive
              </Button>
            )}
          >
            Each subscription is billed by it to the end of its open period, and never again.
          </Confirm>
        </span>
      </AdminOnly>
    ),
  };
  return (
    <Section
      title="Charges"
      actions={
        <AdminOnly>
          <Button onClick={() => setDialog('new')}>Add a charge</Button>
        </AdminOnly>
      }
    >
      <RowsByPage
        label="Charges"
        columns={[...columns, buttons]}
        rows={active}
        keyOf={({ id }) => id}
        empty="The plan costs nothing yet."
      />
      {ended.length > 0 && (
        <details className="more">
          <summary>Ended charges ({ended.length})</summary>
          <RowsByPage label="Ended charges" columns={columns} rows={ended} keyOf={({ id }) => id} empty={null} />
        </details>
      )}
      {dialog !== undefined && (
        <AddCharge plan={plan} replaced={dialog === 'new' ? undefined : dialog} onClose={() => setDialog(undefined)} />
      )}
    </Section>
  );
}
