import { Button, Checkbox, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { useShownOnce } from '../components/dialogs/shown-once.ts';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { Status } from '../components/lists/status.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Page } from '../components/page/page.tsx';
import { Time } from '../components/page/time.tsx';
import { bodyOf, EventTypes, type EndpointValues } from './event-types.tsx';
import { lostSecret, ShownSecret } from './shown-secret.tsx';

type Endpoint = Schema<'WebhookEndpoint'>;

const COLUMNS: Column<Endpoint>[] = [
  {
    title: 'URL',
    cell: ({ id, url }) => (
      <Link to="/webhooks/$endpointId" params={{ endpointId: id }} className="row-link">
        {url}
      </Link>
    ),
  },
  {
    title: 'Events',
    cell: ({ event_types: types }) => (types === null ? 'All' : `${types.length} of them`),
    isExtra: true,
  },
  { title: 'Status', cell: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
  { title: 'Created', cell: ({ created_at: at }) => <Time at={at} as="date" />, isExtra: true },
];

export function EndpointStatus({ endpoint: { status, failing_since: since } }: { endpoint: Endpoint }) {
  if (status === 'DISABLED' || since === null) return <Status of={status} />;
  return (
    <>
      <Status of="FAILING" /> since <Time at={since} as="ago" />
    </>
  );
}

export function WebhooksPage() {
  const { isAdmin } = useSession();
  const [isCreating, setCreating] = useState(false);
  const endpoints = useQuery(read('/api/v1/webhook-endpoints', {}));
  return (
    <Page
      title="Webhooks"
      about="Your services are told of what happens in billing: invoices, subscriptions, credits, alerts."
      actions={isAdmin && <Button onClick={() => setCreating(true)}>New endpoint</Button>}
    >
      <Loaded query={endpoints}>
        {({ data }) => (
          <DataTable
            label="Webhook endpoints"
            columns={COLUMNS}
            rows={data}
            keyOf={({ id }) => id}
            empty={<p>No endpoints yet. One of them is a URL of yours to which each event is sent.</p>}
          />
        )}
      </Loaded>
      {isCreating && <NewEndpoint onClose={() => setCreating(false)} />}
    </Page>
  );
}

function NewEndpoint({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const { shown: created, show } = useShownOnce(lostSecret);
  const form = useForm<EndpointValues & { is_off: boolean }>({
    name: 'webhook-endpoint',
    initial: { url: '', event_types: [], is_off: false },
    onSubmit: async ({ is_off: isOff, ...values }) => {
      const body = { ...bodyOf(values), status: isOff ? ('DISABLED' as const) : ('ACTIVE' as const) };
      const made = await send(client.POST('/api/v1/webhook-endpoints', { body }));
      // It is shown at once, whatever becomes of the list.
      show(made);
      void invalidate(queries, '/api/v1/webhook-endpoints');
    },
  });
  if (created !== undefined) return <ShownSecret secret={created.secret} onClose={onClose} />;
  return (
    <Dialog title="New endpoint" onClose={onClose}>
      <FormBox form={form} submitLabel="Create the endpoint" onCancel={onClose} isShownOnce>
        <TextInput label="URL" placeholder="https://example.com/weir" data-autofocus {...form.field('url')} />
        <EventTypes form={form} />
        <Checkbox
          label="Turned off at first"
          description="Nothing is sent until somebody turns it on."
          {...form.checkbox('is_off')}
        />
      </FormBox>
    </Dialog>
  );
}
