import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { changeShown, client, read, send, type Opened, type Schema } from '../api/client.ts';
import { FAILING_DAYS_MAX, ROTATION_HOURS_MAX } from '../api/limits.ts';
import { pace } from '../api/pace.ts';
import { invalidate } from '../api/queries.ts';
import { problemOf } from '../api/problem.ts';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useOnward } from '../components/dialogs/leaving.ts';
import { useShownOnce } from '../components/dialogs/shown-once.ts';
import { useForm } from '../components/forms/form.tsx';
import { ToChange } from '../components/forms/to-change.tsx';
import { Facts } from '../components/lists/facts.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { wordsOf } from '../components/outcomes/problem-words.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Page } from '../components/page/page.tsx';
import { ThingPage } from '../components/page/thing-page.tsx';
import { Time } from '../components/page/time.tsx';
import { addDays, readDay, startOfDay } from '../text/instants.ts';
import { Deliveries, LOOK_MS } from './deliveries.tsx';
import { bodyOf, EventTypes, type EndpointValues } from './event-types.tsx';
import { lostRotation, ShownSecret } from './shown-secret.tsx';
import { EndpointStatus } from './webhooks-page.tsx';

type Endpoint = Schema<'WebhookEndpoint'>;

const REFRESH_MS = 10_000;

const REASONS = {
  FAILING: `It failed for ${FAILING_DAYS_MAX} days.`,
  GONE: 'It answered 410: there is nobody any more.',
};

const LIST = '/api/v1/webhook-endpoints';
const ONE = '/api/v1/webhook-endpoints/{id}';
const DELIVERIES = '/api/v1/webhook-endpoints/{id}/deliveries';

const ABOVE = <Link to="/webhooks">Webhooks</Link>;

export function EndpointPage() {
  const { endpointId: id } = useParams({ from: '/shell/webhooks/$endpointId' });
  const endpoint = useQuery({
    ...read(ONE, { path: { id } }),
    refetchInterval: ({ state }) => (state.data?.replay == null ? pace(REFRESH_MS) : LOOK_MS),
  });
  return (
    <ThingPage query={endpoint} of="Endpoint" above={ABOVE}>
      {(found) => (
        <Page
          title={new URL(found.url).host}
          above={ABOVE}
          actions={
            <AdminOnly>
              <EndpointChanges endpoint={found} />
            </AdminOnly>
          }
        >
          <Facts
            of={[
              ['URL', <code key="url">{found.url}</code>],
              ['Status', <EndpointStatus key="status" endpoint={found} />],
              ['Turned off', found.disabled_reason !== null && REASONS[found.disabled_reason]],
              ['Events', found.event_types === null ? 'All' : found.event_types.join(', ')],
              ['Told up to event', String(found.last_sequence)],
              [
                'Sending again',
                found.replay !== null &&
                  `${found.replay.next_sequence} to ${found.replay.last_sequence}${found.status === 'ACTIVE' ? '' : ', once it is turned on'}`,
              ],
              [
                'The secret before signs until',
                found.previous_secret_until !== null && <Time key="until" at={found.previous_secret_until} />,
              ],
            ]}
          />
          <Deliveries endpoint={found} />
        </Page>
      )}
    </ThingPage>
  );
}

function EndpointChanges({ endpoint }: { endpoint: Endpoint }) {
  const { id, status } = endpoint;
  const queries = useQueryClient();
  const onward = useOnward();
  const [open, setOpen] = useState<'edit' | 'replay'>();
  const { shown: rotated, show, putAway } = useShownOnce(lostRotation);
  const path = { params: { path: { id } } };
  const readAnew = () => invalidate(queries, LIST, ONE, DELIVERIES);
  const turn = async (to: Endpoint['status']) => {
    try {
      await changeShown(ONE, path.params, { status }, (PATCH) => PATCH(ONE, { ...path, body: { status: to } }));
    } finally {
      await readAnew();
    }
  };
  const close = () => setOpen(undefined);
  return (
    <>
      {status === 'ACTIVE' && <TestButton id={id} onSent={readAnew} />}
      <Button variant="default" onClick={() => setOpen('edit')}>
        Edit
      </Button>
      <Button variant="default" onClick={() => setOpen('replay')}>
        Replay
      </Button>
      <Confirm
        label={status === 'ACTIVE' ? 'Turn off' : 'Turn on'}
        title={status === 'ACTIVE' ? 'Turn this endpoint off?' : 'Turn this endpoint on?'}
        onConfirm={() => turn(status === 'ACTIVE' ? 'DISABLED' : 'ACTIVE')}
      >
        {status === 'ACTIVE'
          ? 'Nothing is sent to it until it is turned on again; then it gets what happened meanwhile.'
          : 'It goes on where it was: what happened meanwhile is sent to it now.'}
      </Confirm>
      <Confirm
        label="Rotate the secret"
        title="Give the endpoint another secret?"
        isShownOnce
        onConfirm={async () => {
          const made = await send(client.POST('/api/v1/webhook-endpoints/{id}/rotate', path));
          // It is shown at once, whatever becomes of the page.
          show(made);
          void readAnew();
        }}
        trigger={(rotate) => (
          <Confirm
            label="Delete"
            title="Delete this endpoint?"
            isDangerous
            onConfirm={async () => {
              await send(client.DELETE(ONE, path));
              await invalidate(queries, LIST);
              await onward({ to: '/webhooks' });
            }}
            trigger={(remove) => (
              <RowMenu
                label="More actions"
                items={[
                  { label: 'Rotate the secret', onClick: rotate },
                  { label: 'Delete', onClick: remove, isDangerous: true },
                ]}
              />
            )}
          >
            With all that is known of its deliveries. This cannot be taken back.
          </Confirm>
        )}
      >
        <p>For {ROTATION_HOURS_MAX} hours both sign, so that the receiver can be changed meanwhile.</p>
        {endpoint.previous_secret_until !== null && (
          <p>
            The secret was changed a short while ago. The one before, which was to sign until{' '}
            <Time at={endpoint.previous_secret_until} />, signs no longer at once: a receiver that knows no other
            refuses what it is sent until it has the new one.
          </p>
        )}
      </Confirm>
      {open === 'edit' && (
        <ToChange path={ONE} {...path}>
          {(opened) => <EditEndpoint opened={opened} onClose={close} onDone={readAnew} />}
        </ToChange>
      )}
      {open === 'replay' && <Replay id={id} onClose={close} onDone={readAnew} />}
      {rotated !== undefined && <ShownSecret secret={rotated.secret} isRotated onClose={putAway} />}
    </>
  );
}

function TestButton({ id, onSent }: { id: string; onSent: () => Promise<void> }) {
  const [isBusy, setBusy] = useState(false);
  const test = async (): Promise<void> => {
    setBusy(true);
    try {
      await send(client.POST('/api/v1/webhook-endpoints/{id}/test', { params: { path: { id } } }));
      await onSent();
      notify('A test is on its way. What came back stands below.');
    } catch (error) {
      notify(wordsOf(problemOf(error)).said, 'bad');
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button loading={isBusy} onClick={() => void test()}>
      Send a test
    </Button>
  );
}

interface ChangeProps {
  onClose: () => void;
  onDone: () => Promise<void>;
}

const valuesOf = ({ url, event_types }: Endpoint): EndpointValues => ({ url, event_types: event_types ?? [] });

function EditEndpoint({ opened, onClose, onDone }: ChangeProps & { opened: Opened<Endpoint> }) {
  const path = { id: opened.data.id };
  const form = useForm<EndpointValues>({
    initial: valuesOf(opened.data),
    reload: async () => valuesOf(await opened.reload()),
    onSubmit: async (values) => {
      await opened.change((PATCH) => PATCH(ONE, { params: { path }, body: bodyOf(values) }));
      await onDone();
      onClose();
    },
  });
  return (
    <FormDialog title="Edit the endpoint" form={form} submitLabel="Save" onClose={onClose}>
      <TextInput label="URL" data-autofocus {...form.field('url')} />
      <EventTypes form={form} />
    </FormDialog>
  );
}

/** A number is a sequence, a date a whole day of the organization; all else is a time, which the API judges. */
function boundOf(text: string, zone: string, isLast: boolean): number | string {
  if (/^\d{1,15}$/.test(text.trim())) return Number(text);
  const day = readDay(text);
  if (day === undefined) return text.trim();
  return startOfDay(isLast ? addDays(day, 1) : day, zone);
}

function Replay({ id, onClose, onDone }: ChangeProps & { id: string }) {
  const form = useForm({
    initial: { from: '', to: '' },
    onSubmit: async ({ from, to }) => {
      const { time_zone: zone } = await send(client.GET('/api/v1/billing/settings'));
      const body = {
        from: boundOf(from, zone, false),
        ...(to.trim() !== '' && { to: boundOf(to, zone, true) }),
      };
      const { replay, status } = await send(
        client.POST('/api/v1/webhook-endpoints/{id}/replay', { params: { path: { id } }, body }),
      );
      await onDone();
      onClose();
      const when = status === 'ACTIVE' ? 'now' : 'once the endpoint is turned on';
      notify(replay === null ? 'There is no such event.' : `The events are sent again ${when}.`);
    },
  });
  return (
    <FormDialog title="Send events again" form={form} submitLabel="Send again" onClose={onClose}>
      <p className="dialog-lead">Of the types that this endpoint takes. The receiver knows them by their webhook-id.</p>
      <TextInput
        label="From"
        description="The number of an event, or a day such as 2026-11-01, in the time zone of the organization."
        data-autofocus
        {...form.field('from')}
      />
      <TextInput
        label="To"
        description="The last number or day, which is sent too. Empty: up to now."
        {...form.field('to')}
      />
    </FormDialog>
  );
}
