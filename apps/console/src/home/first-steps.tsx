// From nothing to a first invoice: what is counted, what it costs, and who pays for it. Each step ticks itself off when it is done,
// whoever does it.

import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { read } from '../api/client.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Icon } from '../components/page/icons.tsx';
import { Loading } from '../components/outcomes/loading.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { Section } from '../components/page/page.tsx';
import { CountStep } from './count-step.tsx';
import { FirstPlanForm } from './first-plan-form.tsx';
import './first-steps.css';
import { FirstSubscriptionForm } from './first-subscription-form.tsx';

/** How often it is looked whether what is to be done is done. */
const LOOK_MS = 1_000;

const FIRST = { page_size: 1 } as const;

interface FirstStepsProps {
  onPutAway: (() => void) | undefined;
  /** What stands below comes after the steps, so that nothing moves. */
  below: ReactNode;
}

export function FirstSteps({ onPutAway, below }: FirstStepsProps) {
  const untilThere = ({ state }: { state: { data?: { data: unknown[] } } }): number | false =>
    state.data?.data.length === 0 ? LOOK_MS : false;
  const meters = useQuery({
    ...read('/api/v1/meters', { query: { status: 'ACTIVE', ...FIRST } }),
    refetchInterval: untilThere,
  });
  const keys = useQuery({ ...read('/api/v1/api-keys', { query: FIRST }), refetchInterval: untilThere });
  const events = useQuery({ ...read('/api/v1/events', { query: { limit: 1 } }), refetchInterval: untilThere });
  const [meter, key, event] = [meters.data?.data[0], keys.data?.data[0], events.data?.data[0]];
  // The next step only: nobody waits for the one after it.
  const plans = useQuery({
    ...read('/api/v1/plans', { query: { is_active: 'true', ...FIRST } }),
    refetchInterval: event !== undefined && untilThere,
  });
  const plan = plans.data?.data[0];
  const subscriptions = useQuery({
    ...read('/api/v1/subscriptions', { query: FIRST }),
    refetchInterval: plan !== undefined && untilThere,
  });
  const subscription = subscriptions.data?.data[0];
  const reads = [meters, keys, events, plans, subscriptions];
  if (reads.some(({ isPending }) => isPending)) return <Loading rows={12} />;
  const failed = reads.find(({ error }) => error !== null);
  return (
    <>
      <Section
        title="First steps"
        about="Three of them lead to a first invoice."
        actions={
          onPutAway !== undefined && (
            <Button variant="default" onClick={onPutAway}>
              Put away
            </Button>
          )
        }
      >
        {failed !== undefined && <ProblemBox error={failed.error} onRetry={() => void failed.refetch()} />}
        <ol className="steps">
          <Step title="Count something" isDone={event !== undefined}>
            <CountStep meter={meter} apiKey={key} event={event} />
          </Step>
          <Step title="Put a price on it" isDone={plan !== undefined}>
            {plan !== undefined && (
              <p>
                Customers can be subscribed to{' '}
                <Link to="/plans/$planId" params={{ planId: plan.id }}>
                  {plan.name}
                </Link>
                .
              </p>
            )}
            {plan === undefined && meter !== undefined && (
              <AdminOnly>
                <p>
                  A plan says what usage costs. This one has one price for each unit of {meter.name}; tiers, packages
                  and fees are among what <Link to="/plans/new">a plan of your own</Link> can have.
                </p>
                <FirstPlanForm meter={meter} />
              </AdminOnly>
            )}
          </Step>
          <Step title="Subscribe a customer" isDone={subscription !== undefined}>
            {subscription !== undefined && (
              <p>
                {subscription.customer_external_id} is on {subscription.plan_name}, and its first invoice goes up with
                each event:{' '}
                <Link
                  to="/subscriptions/$subscriptionId"
                  params={{ subscriptionId: subscription.id }}
                  search={{ tab: 'next' }}
                >
                  see its draft
                </Link>
                .
              </p>
            )}
            {subscription === undefined && plan !== undefined && (
              <AdminOnly>
                <p>
                  What a customer uses is billed at the end of each {plan.billing_interval}, from the day of its last
                  event on, and from this month on at the earliest.
                </p>
                <FirstSubscriptionForm plan={plan} event={event} />
              </AdminOnly>
            )}
          </Step>
        </ol>
      </Section>
      {below}
    </>
  );
}

function Step({ title, isDone, children }: { title: string; isDone: boolean; children: ReactNode }) {
  return (
    <li className={isDone ? 'step is-done' : 'step'}>
      <span className="step-mark" role="img" aria-label={isDone ? 'Done' : 'To do'}>
        {isDone && <Icon name="check" />}
      </span>
      <div className="step-body">
        <h3>{title}</h3>
        {children}
      </div>
    </li>
  );
}
