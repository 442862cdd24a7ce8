import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { changeShown, read, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { formatDate, formatLastDay } from '../text/instants.ts';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { OF_SUBSCRIPTIONS } from './of-subscriptions.ts';

interface PendingChangesProps {
  subscription: Schema<'Subscription'>;
}

/** Says what happens at the end of the period, and offers the way back. */
export function PendingChanges({ subscription }: PendingChangesProps) {
  const { pending_plan_id: planId, cancel_at_period_end: isEnding, status } = subscription;
  const { data: plan } = useQuery({
    ...read('/api/v1/plans/{id}', { path: { id: planId ?? '' } }),
    enabled: planId !== null,
  });
  if (status === 'CANCELED') return null;
  const { current_period_end: end, time_zone: zone } = subscription;
  return (
    <>
      {isEnding && (
        <TakeBack
          id={subscription.id}
          label="Keep the subscription"
          shown={{ cancel_at_period_end: true }}
          body={{ cancel_at_period_end: false }}
        >
          It ends with its period: its last day is {formatLastDay(end, zone)}.
        </TakeBack>
      )}
      {planId !== null && (
        <TakeBack
          id={subscription.id}
          label="Take the change back"
          shown={{ pending_plan_id: planId }}
          body={{ pending_plan_id: null }}
        >
          {isEnding
            ? `It would change to the plan ${plan?.name ?? '…'}, but it ends. Keep the subscription, and it does.`
            : `It changes to the plan ${plan?.name ?? '…'}, whose first day is ${formatDate(end, zone)}.`}
        </TakeBack>
      )}
    </>
  );
}

interface TakeBackProps {
  id: string;
  label: string;
  shown: Partial<Schema<'Subscription'>>;
  body: { cancel_at_period_end?: false; pending_plan_id?: null };
  children: ReactNode;
}

function TakeBack({ id, label, shown, body, children }: TakeBackProps) {
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const takeBack = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const params = { path: { id } };
      await changeShown('/api/v1/subscriptions/{id}', params, shown, (PATCH) =>
        PATCH('/api/v1/subscriptions/{id}', { params, body: body as never }),
      );
    } catch (problem) {
      setError(problem);
    }
    await invalidate(queries, ...OF_SUBSCRIPTIONS);
    setBusy(false);
  };
  return (
    <div className="callout">
      <p>{children}</p>
      <AdminOnly>
        <Button variant="default" loading={isBusy} onClick={() => void takeBack()}>
          {label}
        </Button>
      </AdminOnly>
      <ProblemBox error={error} />
    </div>
  );
}
