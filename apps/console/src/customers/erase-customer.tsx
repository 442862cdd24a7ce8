import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { read, type Schema } from '../api/client.ts';
import { PAGE_SIZE_MAX } from '../api/limits.ts';
import { lazily } from '../components/page/lazily.tsx';
import { Time } from '../components/page/time.tsx';
import { formatCount } from '../text/decimals.ts';

const EraseDialog = lazily(() => import('./erase-dialog.tsx').then((loaded) => loaded.EraseDialog));

interface EraseProps {
  customer: Schema<'Customer'>;
  /** Draws what opens it. */
  trigger: (open: () => void) => ReactNode;
}

/** Asks, and says what goes and what stays: nothing of it can be taken back. One that is erased has only its copies on invoices left. */
export function EraseCustomer({ customer, trigger }: EraseProps) {
  // The one that was asked about stays as it was: what is read of it once it is erased has another name.
  const [asked, setAsked] = useState<Schema<'Customer'>>();
  return (
    <>
      {trigger(() => setAsked(customer))}
      {asked !== undefined && <EraseDialog customer={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

const REFRESH_MS = 2_000;

/** When a customer was erased, and while its usage is being renamed how far that is. */
export function Erased({ id, at }: { id: string; at: string }) {
  const erasures = useQuery({
    ...read('/api/v1/erasures', { query: { page_size: PAGE_SIZE_MAX } }),
    refetchInterval: ({ state }) => (isRunning(state.data?.data, id) ? REFRESH_MS : false),
  });
  const own = erasures.data?.data.find(({ customer_id }) => customer_id === id);
  return (
    <>
      <Time at={at} as="date" />
      {own?.status === 'RUNNING' && ` – its usage gets its new id: ${formatCount(own.events, 'event')} so far`}
      {own?.grouped_meter_id != null && (
        <>
          . It waits for you to take the key that holds what names the customer out of{' '}
          <Link to="/meters/$meterId" params={{ meterId: own.grouped_meter_id }}>
            the metadata keys of this meter
          </Link>
        </>
      )}
    </>
  );
}

function isRunning(erasures: readonly Schema<'Erasure'>[] | undefined, id: string): boolean {
  return erasures?.some(({ customer_id, status }) => customer_id === id && status === 'RUNNING') ?? false;
}
