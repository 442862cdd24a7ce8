import { SegmentedControl, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { DateField } from '../components/forms/date-field.tsx';
import { nothingFound } from '../components/outcomes/nothing-found.ts';
import { isDay } from '../text/instants.ts';
import type { SearchTexts } from '../components/lists/search-texts.ts';
import { CustomerField } from '../usage/customer-field.tsx';
import { MeterSelect, NO_METER } from '../usage/meter-select.tsx';
import { useMeters } from '../usage/meters.ts';

const STATUSES = [
  { value: '', label: 'All' },
  { value: 'recorded', label: 'Recorded' },
  { value: 'voided', label: 'Voided' },
  { value: 'rejected', label: 'Rejected' },
  { value: 'duplicate', label: 'Duplicate' },
];

/** All of it stands in the address. Dates are days in UTC, as the API takes them. */
export function EventFilters() {
  const search = useSearch({ from: '/shell/events' });
  const navigate = useNavigate({ from: '/events' });
  const set = (changed: Partial<typeof search>): void =>
    void navigate({ search: (before: SearchTexts) => ({ ...before, ...changed }), replace: true });
  /** What is no day looks for nothing: the field says so. */
  const setDay = (name: 'from' | 'to') => (day: string) => {
    if (day === '' || isDay(day)) set({ [name]: day === '' ? undefined : day });
  };
  const meters = useMeters();
  return (
    <div className="toolbar">
      <div className="is-row">
        <SegmentedControl
          aria-label="Status"
          data={STATUSES}
          value={search.status ?? ''}
          // A reason is one of rejected events only.
          onChange={(status) => set({ status: status === '' ? undefined : status, reason: undefined })}
        />
      </div>
      <MeterSelect
        meters={meters.data ?? []}
        placeholder="All"
        nothing={nothingFound(meters, NO_METER)}
        value={search.meter ?? null}
        onChange={(meter) => set({ meter: meter ?? undefined })}
      />
      <CustomerField value={search.customer} onChange={(customer) => set({ customer })} />
      <DateField label="Time from (UTC)" placeholder="Any" value={search.from ?? ''} onChange={setDay('from')} />
      <DateField label="Time to (UTC)" placeholder="Any" value={search.to ?? ''} onChange={setDay('to')} />
      <KeyField key={search.key ?? ''} value={search.key ?? ''} onChange={(key) => set({ key })} />
    </div>
  );
}

/** A key is found as a whole, to the letter, so it is looked for when it was typed or pasted to its end. */
function KeyField({ value, onChange }: { value: string; onChange: (key: string | undefined) => void }) {
  const [typed, setTyped] = useState(value);
  const apply = (): void => {
    if (typed === value) return;
    // Blanks alone would be a filter that nobody sees.
    const isBlank = typed.trim() === '';
    if (isBlank) setTyped('');
    onChange(isBlank ? undefined : typed);
  };
  return (
    <TextInput
      label="Idempotency key"
      placeholder="Any"
      description={value === value.trim() ? undefined : 'Has white space at an end.'}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
    />
  );
}
