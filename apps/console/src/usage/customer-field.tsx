import { Autocomplete } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { read } from '../api/client.ts';

/** While one types, neither the customers nor the page are asked for each letter. */
const PAUSE_MS = 250;

interface CustomerFieldProps {
  /** The external id; undefined for all customers. */
  value: string | undefined;
  onChange: (externalId: string | undefined) => void;
}

/** A customer by external id. Those that have no record yet have usage too, so any text will do. */
export function CustomerField({ value, onChange }: CustomerFieldProps) {
  const [typed, setTyped] = useState(value ?? '');
  const [search] = useDebouncedValue(typed.trim(), PAUSE_MS);
  const found = useQuery({
    ...read('/api/v1/customers', { query: { search, page_size: 8 } }),
    enabled: search !== '' && search !== value,
  });
  const [given, setGiven] = useState(value);
  if (given !== value) {
    // The address has changed: a link, or the way back.
    setGiven(value);
    if ((value ?? '') !== typed.trim()) setTyped(value ?? '');
  }
  useEffect(() => {
    if (search !== (value ?? '')) onChange(search === '' ? undefined : search);
    // Only what was typed sets it; a change from outside is taken above.
    // oxlint-disable-next-line react/exhaustive-effect-dependencies, react-hooks/exhaustive-deps
  }, [search]);
  return (
    <Autocomplete
      label="Customer"
      size="xs"
      placeholder="All"
      data={[...new Set((found.data?.data ?? []).map(({ external_id: id }) => id))]}
      // What the API found by name is an id that does not hold the name.
      filter={({ options }) => options}
      value={typed}
      onChange={setTyped}
      w={150}
    />
  );
}
