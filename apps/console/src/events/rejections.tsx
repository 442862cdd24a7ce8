import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { read } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import { useSession } from '../api/session.ts';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Section } from '../components/page/page.tsx';
import { Time } from '../components/page/time.tsx';
import { useMeters } from '../usage/meters.ts';
import type { Rejection } from './event-log.ts';
import { ReplayAll, type ReplayAllProps } from './replay-all.tsx';

const REFRESH_MS = 3_000;

/** Lists events that were rejected and not replayed yet, by reason: mostly one mistake of one service. */
export function Rejections() {
  const { isAdmin } = useSession();
  const rejections = useQuery({ ...read('/api/v1/events/rejections'), refetchInterval: () => pace(REFRESH_MS) });
  const meters = useMeters();
  const names = new Map(meters.data?.map(({ id, name }) => [id, name]));
  const [replaying, setReplaying] = useState<Omit<ReplayAllProps, 'onClose'> | undefined>();
  const columns: Column<Rejection>[] = [
    {
      title: 'Reason',
      cell: ({ reason, meter_id: meter }) => (
        <Link className="row-link" from="/events" to="/events" search={{ status: 'rejected', reason, meter }}>
          {reason}
        </Link>
      ),
    },
    { title: 'Meter', cell: ({ meter_id: id }) => names.get(id) ?? id },
    { title: 'Events', isNumber: true, cell: ({ count }) => formatDecimal(count) },
    { title: 'Last', isExtra: true, isTight: true, cell: ({ last_at: at }) => <Time at={at} as="ago" /> },
    ...(isAdmin
      ? [
          {
            title: 'Replay',
            isTitleHidden: true,
            isTight: true,
            cell: (rejection: Rejection) => (
              <Button
                variant="default"
                size="compact-xs"
                onClick={() => setReplaying({ rejection, isPartial: rejections.data?.has_more === true })}
              >
                Replay all
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Section
      title="By reason"
      about="Rejected events were accepted and are kept. They do not count until they are replayed."
    >
      <Loaded query={rejections} rows={2}>
        {({ data, has_more }) => (
          <>
            <DataTable
              label="Rejected events by reason"
              columns={columns}
              rows={data}
              keyOf={({ reason, meter_id: meter }) => `${meter} ${reason}`}
              empty={<p>Nothing waits to be replayed.</p>}
            />
            {has_more && <p className="muted">Only the newest events are counted here. There are more.</p>}
          </>
        )}
      </Loaded>
      {replaying !== undefined && <ReplayAll {...replaying} onClose={() => setReplaying(undefined)} />}
    </Section>
  );
}
