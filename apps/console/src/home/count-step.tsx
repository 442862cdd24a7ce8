// The first step: a meter, a key, and an event that is sent with it.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { lostKey, NewKeyForm } from '../api-keys/new-key-form.tsx';
import { LeaveQuestion } from '../components/dialogs/dialog.tsx';
import { useLeaving } from '../components/dialogs/leaving.ts';
import { useShownOnce } from '../components/dialogs/shown-once.ts';
import { AskBeforeLeaving } from '../components/forms/ask-before-leaving.tsx';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { SecretOnce } from '../components/page/secret-once.tsx';
import { Snippet } from '../components/page/snippet.tsx';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';
import type { EventReceipt } from '../events/event-log.ts';
import { AGGREGATIONS } from '../usage/aggregations.ts';
import type { Meter } from '../usage/meters.ts';
import { NewMeterForm } from './new-meter-form.tsx';

type ApiKey = Schema<'ApiKey'>;
type Created = Schema<'CreatedApiKey'>;

interface CountStepProps {
  meter: Meter | undefined;
  apiKey: ApiKey | undefined;
  event: EventReceipt | undefined;
}

export function CountStep({ meter, apiKey, event }: CountStepProps) {
  const { shown: created, show } = useShownOnce(lostKey);
  return (
    <>
      {meter === undefined && event === undefined && (
        <>
          <p>A meter is what you count: API calls, for a start.</p>
          <AdminOnly>
            <NewMeterForm />
          </AdminOnly>
        </>
      )}
      {meter !== undefined && (
        <p>
          {meter.name} counts by {meter.aggregation_type}. Its token is <code>{meter.meter_token}</code>.
        </p>
      )}
      {/* A key that was made here is shown until one leaves the page. */}
      {(event === undefined || created !== undefined) && meter !== undefined && (
        <KeyOf apiKey={apiKey} created={created} isUsed={event !== undefined} onCreated={show} />
      )}
      {event === undefined && meter !== undefined && apiKey !== undefined && (
        <SendIt meter={meter} secret={created?.key ?? undefined} last4={apiKey.last4} />
      )}
      {event !== undefined && (
        <p role="status">
          <Status of={event.status} /> An event came <Time at={event.received_at} as="ago" />, from{' '}
          {event.customer_external_id}:{' '}
          <Link to="/usage" search={{ meter: event.meter_id, by: 'hour' }}>
            look at its usage
          </Link>
          .
        </p>
      )}
    </>
  );
}

interface KeyOfProps {
  apiKey: ApiKey | undefined;
  created: Created | undefined;
  /** Whether an event has come: until then nobody may have copied it. */
  isUsed: boolean;
  onCreated: (key: Created) => void;
}

function KeyOf({ apiKey, created, isUsed, onCreated }: KeyOfProps) {
  const { isAdmin } = useSession();
  const [isAsking, setAsking] = useState(false);
  const risk = typeof created?.key === 'string' && !isUsed ? 'shown once' : undefined;
  const leaving = useLeaving(risk, { isWholePage: true });
  if (created !== undefined && created.key !== null) {
    return (
      <>
        <p>Keep it like a password: it is shown here until you leave this page, and never again.</p>
        <SecretOnce text={created.key} label="Copy the key" />
        {leaving.status === 'blocked' && <LeaveQuestion risk={risk} onLeave={leaving.proceed} onStay={leaving.reset} />}
      </>
    );
  }
  if (!isAdmin) return null;
  if (apiKey === undefined || isAsking) {
    const cancel = apiKey === undefined ? undefined : () => setAsking(false);
    return (
      <>
        <p>Your services report usage with an API key.</p>
        <AskBeforeLeaving>
          <NewKeyForm
            initialName="First key"
            onCreated={(key) => {
              setAsking(false);
              onCreated(key);
            }}
            onCancel={cancel}
          />
        </AskBeforeLeaving>
      </>
    );
  }
  return (
    <>
      {created !== undefined && <SecretOnce text={null} label="Copy the key" />}
      <p>
        There is a key, and nobody can show it again.{' '}
        <Button variant="default" size="compact-xs" onClick={() => setAsking(true)}>
          Make another
        </Button>
      </p>
    </>
  );
}

interface SendItProps {
  meter: Meter;
  secret: string | undefined;
  last4: string | null;
}

function SendIt({ meter, secret, last4 }: SendItProps) {
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
        {secret === undefined && last4 !== null && ` Put your own key in: the one that ends in ${last4}.`}
      </p>
      <Snippet text={command} label="Copy the command" />
    </>
  );
}
