import { Autocomplete } from '@mantine/core';
import { useDebouncedCallback, useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
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
  const [sent, setSent] = useState(value ?? '');
  const apply = useDebouncedCallback((text: string) => {
    setSent(text);
    onChange(text === '' ? undefined : text);
  }, PAUSE_MS);
  const [given, setGiven] = useState(value);
  if (given !== value) {
    setGiven(value);
    // Not what was typed here: a link, or the way back.
    if ((value ?? '') !== sent) {
      setSent(value ?? '');
      setTyped(value ?? '');
    }
  }
  return (
    <Autocomplete
      label="Customer"
      size="xs"
      placeholder="All"
      data={[...new Set((found.data?.data ?? []).map(({ external_id: id }) => id))]}
      // What the API found by name is an id that does not hold the name.
      filter={({ options }) => options}
      value={typed}
      onChange={(text) => {
        setTyped(text);
        apply(text.trim());
      }}
      w={150}
    />
  );
}
