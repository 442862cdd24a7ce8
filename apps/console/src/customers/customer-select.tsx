// Choosing a customer by typing a part of its name, id or email: the list may be long, so it is searched on the server.

import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { nothingFound } from '../components/outcomes/nothing-found.ts';
import { read, type Schema } from '../api/client.ts';

interface CustomerSelectProps {
  value: string | null;
  onChange(id: string | null): void;
  label?: string;
  error?: string | undefined;
  isRequired?: boolean;
  /** Of a filter, which may be taken away again. */
  isClearable?: boolean;
}

export function CustomerSelect({
  value,
  onChange,
  label = 'Customer',
  error,
  isRequired = false,
  isClearable = false,
}: CustomerSelectProps) {
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<{ value: string; label: string }>();
  // Choosing one writes its label into the field: that is no search.
  const [search] = useDebouncedValue(typed === chosen?.label ? '' : typed, 200);
  const customers = useQuery({
    ...read('/api/v1/customers', { query: { search } }),
    placeholderData: keepPreviousData,
  });
  // One that was chosen before this page was opened is known by its id only.
  const { data: given } = useQuery({
    ...read('/api/v1/customers/{id}', { path: { id: value ?? '' } }),
    enabled: value !== null && chosen === undefined,
  });
  const shown = chosen ?? (given === undefined ? undefined : { value: given.id, label: nameOf(given) });
  const found = (customers.data?.data ?? [])
    .map((customer) => ({ value: customer.id, label: nameOf(customer) }))
    // By a label that it has got meanwhile, the field would search for that, which is no part of a name.
    .map((each) => (each.value === shown?.value ? shown : each));
  const isFound = shown === undefined || found.some((each) => each.value === shown.value);
  return (
    <Select
      label={label}
      placeholder="Search by name, id or email"
      data={isFound ? found : [shown, ...found]}
      // What was searched for is found already.
      filter={({ options }) => options}
      value={value}
      onChange={(id, option) => {
        setChosen(option ?? undefined);
        onChange(id);
      }}
      searchValue={typed}
      onSearchChange={setTyped}
      onKeyDown={(event) => {
        // A search that nothing was chosen of yet: the form would be sent without a customer.
        if (event.key === 'Enter' && typed !== (shown?.label ?? '')) event.preventDefault();
      }}
      nothingFoundMessage={customers.isFetching ? 'Searching …' : nothingFound(customers, 'No such customer')}
      error={error}
      searchable
      clearable={isClearable}
      required={isRequired}
    />
  );
}

/** Returns its name, else its external id. */
function nameOf({ name, external_id }: Pick<Schema<'Customer'>, 'name' | 'external_id'>): string {
  return name === null ? external_id : `${name} (${external_id})`;
}
