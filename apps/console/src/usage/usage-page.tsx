import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../api/session.ts';
import { lazily } from '../components/page/lazily.tsx';
import { areReversed, ReversedDates } from '../components/forms/reversed-dates.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Loading } from '../components/outcomes/loading.tsx';
import { Icon } from '../components/page/icons.tsx';
import { Page } from '../components/page/page.tsx';
import { useZoneOfUsage, type ZoneOfDays } from './days-of-usage.ts';
import { useFirstMeter, useRemembered } from './first-meter.ts';
import { useMeters, type Meter } from './meters.ts';
import { readSplit } from './split.ts';
import { TopCustomers } from './top-customers.tsx';
import './usage.css';
import { UsageFilters } from './usage-filters.tsx';
import { useUsageSearch } from './usage-search.ts';
import { WholeUsage } from './whole-usage.tsx';
import { windowOf, type UsageWindow } from './window.ts';

const SplitUsage = lazily(() => import('./split-usage.tsx').then((loaded) => loaded.SplitUsage));
const MonthExport = lazily(() => import('./month-export.tsx').then((loaded) => loaded.MonthExport));

export function UsagePage() {
  const [{ customer }] = useUsageSearch();
  const meters = useMeters();
  const zone = useZoneOfUsage(customer);
  return (
    <Page title="Usage" actions={zone.data !== undefined && <ExportButton organizationZone={zone.data.organization} />}>
      <Loaded query={zone} rows={12}>
        {({ days }) => (
          <Loaded query={meters} rows={12}>
            {(all) => <UsageOfOne meters={all} days={days} isOfBefore={zone.isPlaceholderData} />}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

function ExportButton({ organizationZone }: { organizationZone: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" leftSection={<Icon name="download" />} onClick={() => setOpen(true)}>
        Export a month
      </Button>
      {isOpen && <MonthExport organizationZone={organizationZone} onClose={() => setOpen(false)} />}
    </>
  );
}

interface UsageOfOneProps {
  meters: readonly Meter[];
  days: ZoneOfDays;
  /** Whether the days are those of another customer. */
  isOfBefore: boolean;
}

function UsageOfOne({ meters, days, isOfBefore }: UsageOfOneProps) {
  const [search] = useUsageSearch();
  const meter = useFirstMeter(meters, search.meter);
  const window = windowOf(search, days.zone);
  const isZoneKnown = search.zone === window.zone || !isOfBefore;
  if (meter === null) return <Loading rows={12} />;
  if (meter === undefined) return <NoMeters />;
  return (
    <>
      <UsageFilters meters={meters} meter={meter} window={window} days={days} />
      {areReversed(window.from, window.to) ? (
        <ReversedDates />
      ) : (
        <UsageOfMeter key={meter.id} meter={meter} window={window} isZoneKnown={isZoneKnown} />
      )}
    </>
  );
}

function NoMeters() {
  const { isAdmin } = useSession();
  return (
    <div className="empty">
      <p>No meters yet. A meter is what is counted: API calls, tokens, active users.</p>
      {isAdmin && (
        <p>
          <Link to="/">Make the first one</Link>
        </p>
      )}
    </div>
  );
}

interface UsageOfMeterProps {
  meter: Meter;
  window: UsageWindow;
  isZoneKnown: boolean;
}

function UsageOfMeter({ meter, window, isZoneKnown }: UsageOfMeterProps) {
  useRemembered(meter);
  const [{ customer, split: asked, group, value }] = useUsageSearch();
  const only = group === undefined || value === undefined ? undefined : { [group]: value };
  const scope = { meter, window, customer, only, isZoneKnown };
  const split = readSplit(asked, meter.metadata_keys ?? []);
  const isOfOne = customer !== undefined || only !== undefined;
  // Customers are told apart only where all of them are looked at, with all that they have used.
  const below = !isOfOne && split !== null && isZoneKnown && <TopCustomers meter={meter} window={window} />;
  return split === undefined || (split === null && isOfOne) ? (
    <WholeUsage scope={scope} below={below} />
  ) : (
    <SplitUsage scope={scope} split={split} below={below} />
  );
}
