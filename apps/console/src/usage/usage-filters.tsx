import { Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { DateField } from '../components/forms/date-field.tsx';
import { dateIn, isDay, timeZones } from '../text/instants.ts';
import type { SearchTexts } from '../components/lists/search-texts.ts';
import { CustomerField } from './customer-field.tsx';
import { zoneWords, type ZoneOfDays } from './days-of-usage.ts';
import { MeterSelect } from './meter-select.tsx';
import type { Meter } from './meters.ts';
import { useUsageSearch } from './usage-search.ts';
import { PRESETS, presetOf, type UsageWindow } from './window.ts';

interface UsageFiltersProps {
  meters: readonly Meter[];
  meter: Meter;
  window: UsageWindow;
  days: ZoneOfDays;
}

/** The choice of what is looked at. All of it stands in the address. */
export function UsageFilters({ meters, meter, window, days }: UsageFiltersProps) {
  const [search, change] = useUsageSearch();
  return (
    <>
      <div className="toolbar usage-filters">
        <MeterSelect
          meters={meters}
          value={meter.id}
          onChange={(id) =>
            change({ meter: id ?? undefined, split: undefined, shown: undefined, group: undefined, value: undefined })
          }
        />
        <CustomerField value={search.customer} onChange={(customer) => change({ customer })} />
        <Select
          label="Window"
          data={[...PRESETS.map(({ value, label }) => ({ value, label })), { value: 'own', label: 'Own dates' }]}
          value={presetOf(window) ?? 'own'}
          onChange={(value) => {
            const dates = PRESETS.find((preset) => preset.value === value)?.dates(dateIn(window.zone, new Date()));
            if (dates !== undefined) change({ ...dates, by: undefined });
          }}
          allowDeselect={false}
          w={130}
        />
        <DateField
          label="From"
          max={window.to}
          value={window.from}
          onChange={(day) => isDay(day) && change({ from: day, to: window.to })}
        />
        <DateField
          label="To"
          min={window.from}
          value={window.to}
          onChange={(day) => isDay(day) && change({ to: day, from: window.from })}
        />
        <Select
          label="Time zone"
          data={timeZones(window.zone)}
          value={window.zone}
          onChange={(zone) => change({ zone: zone ?? undefined })}
          searchable
          allowDeselect={false}
          w={150}
        />
      </div>
      <ZoneWords zone={window.zone} days={days} />
    </>
  );
}

function ZoneWords({ zone, days }: { zone: string; days: ZoneOfDays }) {
  if (zone === days.zone) return <p className="usage-zone muted">{zoneWords(days)}</p>;
  const whose = days.isBilled ? `Invoices of ${days.customer} are` : `${days.customer ?? 'The organization'} is`;
  return (
    <p className="usage-zone muted">
      Days begin and end in {zone}. {whose} in {days.zone}:{' '}
      <Link from="/usage" to="/usage" search={(all: SearchTexts) => ({ ...all, zone: undefined })} resetScroll={false}>
        show them as there
      </Link>
      .
    </p>
  );
}
