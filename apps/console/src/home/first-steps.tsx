import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { read, type Schema } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { NewKeyForm } from '../api-keys/new-key-form.tsx';
import { Icon } from '../components/page/icons.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Section } from '../components/page/page.tsx';
import { SecretOnce } from '../components/page/secret-once.tsx';
import { Snippet } from '../components/page/snippet.tsx';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';
import { AGGREGATIONS } from '../usage/aggregations.ts';
import type { Meter } from '../usage/meters.ts';
import './first-steps.css';
import { NewMeterForm } from './new-meter-form.tsx';

/** How often it is looked whether what is to be done is done. */
const LOOK_MS = 1_000;

/** From nothing to a number on a chart: a meter, a key, an event. Each step ticks itself off when it is done, whoever does it. */
export function FirstSteps() {
  const { isAdmin } = useSession();
  const untilThere = ({ state }: { state: { data?: { data: unknown[] } } }): number | false =>
    state.data?.data.length === 0 ? LOOK_MS : false;
  const meters = useQuery({ ...read('/api/v1/meters', { query: { page_size: 1 } }), refetchInterval: untilThere });
  const keys = useQuery({ ...read('/api/v1/api-keys', { query: { page_size: 1 } }), refetchInterval: untilThere });
  const [created, setCreated] = useState<Schema<'CreatedApiKey'> | undefined>();
  const events = useQuery({
    ...read('/api/v1/events', { query: { limit: 1 } }),
    refetchInterval: untilThere,
  });
  const meter = meters.data?.data[0];
  const key = keys.data?.data[0];
  const event = events.data?.data[0];
  return (
    <Section title="First steps">
      <Loaded query={keys} rows={8}>
        {() => (
          <ol className="steps">
            <Step title="Make a meter" isDone={meter !== undefined}>
              {meter === undefined ? (
                <>
                  <p>A meter is what you count: API calls, tokens, active users.</p>
                  {isAdmin && <NewMeterForm />}
                </>
              ) : (
                <p>
                  {meter.name} counts by {meter.aggregation_type}. Its token is <code>{meter.meter_token}</code>.
                </p>
              )}
            </Step>
            <Step title="Make an API key" isDone={key !== undefined}>
              <KeyStep hasKey={key !== undefined} created={created} onCreated={setCreated} />
            </Step>
            <Step title="Send an event" isDone={event !== undefined}>
              {meter !== undefined && <SendStep meter={meter} secret={created?.key ?? undefined} last4={key?.last4} />}
              {event !== undefined && (
                <p role="status">
                  <Status of={event.status} /> It came <Time at={event.received_at} as="ago" />, from{' '}
                  {event.customer_external_id}.
                </p>
              )}
            </Step>
            <Step title="See it counted" isDone={false}>
              {event !== undefined && (
                <p>
                  <Link to="/usage" search={{ meter: event.meter_id, by: 'hour' }}>
                    Look at its usage
                  </Link>
                  , or <Link to="/plans">put a price on it</Link>.
                </p>
              )}
            </Step>
          </ol>
        )}
      </Loaded>
    </Section>
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

interface KeyStepProps {
  hasKey: boolean;
  created: Schema<'CreatedApiKey'> | undefined;
  onCreated: (key: Schema<'CreatedApiKey'>) => void;
}

function KeyStep({ hasKey, created, onCreated }: KeyStepProps) {
  const { isAdmin } = useSession();
  const [isAsking, setAsking] = useState(false);
  if (created !== undefined) {
    return (
      <>
        <p>Keep it like a password: it is shown here until you leave this page, and never again.</p>
        <SecretOnce text={created.key} label="Copy the key" />
      </>
    );
  }
  if (!isAdmin) return null;
  if (!hasKey || isAsking)
    return <NewKeyForm onCreated={onCreated} onCancel={hasKey ? () => setAsking(false) : undefined} />;
  return (
    <p>
      There is a key, which was shown when it was made.{' '}
      <Button variant="default" size="compact-xs" onClick={() => setAsking(true)}>
        Make another
      </Button>
    </p>
  );
}

function SendStep({
  meter,
  secret,
  last4,
}: {
  meter: Meter;
  secret: string | undefined;
  last4: string | null | undefined;
}) {
  const { metadata } = AGGREGATIONS[meter.aggregation_type];
  const event = {
    meter_token: meter.meter_token,
    customer_external_id: 'acme',
    quantity: 1,
    ...(metadata !== undefined && { metadata }),
  };
  const command = [
    `curl -X POST ${window.location.origin}/api/v1/sdk/track`,
    `-H 'X-API-Key: ${secret ?? 'org_live_…'}'`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(event)}'`,
  ].join(' \\\n  ');
  return (
    <>
      <p>
        Paste this into a terminal. This page notices when the event arrives.
        {secret === undefined && typeof last4 === 'string' && ` Put your own key in: the one that ends in ${last4}.`}
      </p>
      <Snippet text={command} label="Copy the command" />
    </>
  );
}
