import { useQuery } from '@tanstack/react-query';
import { read, type Schema } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import { formatCount } from '../text/decimals.ts';
import { Facts } from '../components/lists/facts.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Page, Section } from '../components/page/page.tsx';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';

type System = Schema<'System'>;

export function HealthPage() {
  const system = useQuery({ ...read('/api/v1/system'), refetchInterval: () => pace(5_000) });
  return (
    <Page title="Health" about="How this Weir is. It looks again every few seconds.">
      <Loaded query={system} rows={10}>
        {(data) => <State system={data} />}
      </Loaded>
    </Page>
  );
}

function State({
  system: { postgres, redis, way, worker, waiting, reconcile, version, revision },
}: {
  system: System;
}) {
  const unseen = redis === 'ok' ? 'never' : 'not known while Redis is away';
  return (
    <>
      <Section title="Services">
        <Facts
          of={[
            ['Postgres', <Status key="postgres" of={postgres} />],
            ['Redis', <Status key="redis" of={redis} />],
            [
              'Events go',
              way === 'redis' ? (
                'through Redis'
              ) : (
                <span key="way" className="status status-bad">
                  directly to Postgres, since Redis does not take them
                </span>
              ),
            ],
            [
              'Worker last seen',
              worker.last_seen_at === null ? unseen : <Time key="worker" at={worker.last_seen_at} as="ago" />,
            ],
            ['Version', version],
            ['Commit', <code key="commit">{revision}</code>],
          ]}
        />
      </Section>
      <Section title="Queue" about="Events that were accepted, and wait to be recorded.">
        {waiting === null ? (
          <p className="muted">Not known while Redis is away.</p>
        ) : (
          <Facts
            of={[
              ['Waiting', formatCount(waiting.events, 'event')],
              ['The oldest since', waiting.oldest_seconds === null ? 'none waits' : `${waiting.oldest_seconds} s`],
            ]}
          />
        )}
      </Section>
      <Section
        title="Reconcile"
        about="It proves that every accepted event is counted, and every counted one was accepted."
      >
        {reconcile === null ? (
          <p className="muted">
            It has not run yet: <code>npm run reconcile</code>
          </p>
        ) : (
          <Facts
            of={[
              [
                'Its last word',
                <span key="word" className={`status ${reconcile.is_equal ? 'status-good' : 'status-bad'}`}>
                  {reconcile.is_equal ? 'everything adds up' : formatCount(reconcile.problems, 'problem')}
                </span>,
              ],
              ['Finished', <Time key="finished" at={reconcile.finished_at} />],
            ]}
          />
        )}
      </Section>
    </>
  );
}
