import { Select } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { DateField } from '../components/forms/date-field.tsx';
import { dateIn, isDay, timeZones } from '../text/instants.ts';
import type { SearchTexts } from '../components/lists/search-texts.ts';
import { CustomerField } from './customer-field.tsx';
import { MeterSelect } from './meter-select.tsx';
import type { Meter } from './meters.ts';
import { PRESETS, presetOf, type UsageWindow } from './window.ts';

interface UsageFiltersProps {
  meters: readonly Meter[];
  meter: Meter;
  window: UsageWindow;
}

/** The choice of what is looked at. All of it stands in the address. */
export function UsageFilters({ meters, meter, window }: UsageFiltersProps) {
  const search = useSearch({ from: '/shell/usage' });
  const navigate = useNavigate({ from: '/usage' });
  const set = (changed: Partial<typeof search>): void =>
    void navigate({ search: (before: SearchTexts) => ({ ...before, ...changed }), replace: true });
  return (
    <div className="toolbar">
      <MeterSelect
        meters={meters}
        value={meter.id}
        onChange={(id) => set({ meter: id ?? undefined, group: undefined, value: undefined })}
      />
      <CustomerField value={search.customer} onChange={(customer) => set({ customer })} />
      <Select
        label="Window"
        data={[...PRESETS.map(({ value, label }) => ({ value, label })), { value: 'own', label: 'Own dates' }]}
        value={presetOf(window) ?? 'own'}
        onChange={(value) => {
          const dates = PRESETS.find((preset) => preset.value === value)?.dates(dateIn(window.zone, new Date()));
          if (dates !== undefined) set({ ...dates, by: undefined });
        }}
        allowDeselect={false}
        w={130}
      />
      <DateField
        label="From"
        max={window.to}
        value={window.from}
        onChange={(day) => isDay(day) && set({ from: day, to: window.to })}
      />
      <DateField
        label="To"
        min={window.from}
        value={window.to}
        onChange={(day) => isDay(day) && set({ to: day, from: window.from })}
      />
      <Select
        label="Time zone"
        data={timeZones()}
        value={window.zone}
        onChange={(zone) => set({ zone: zone ?? undefined })}
        searchable
        allowDeselect={false}
        w={150}
      />
    </div>
  );
}
