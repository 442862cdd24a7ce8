import { Autocomplete } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { read } from '../api/client.ts';
import { useTyped } from '../components/forms/use-typed.ts';

/** While one types, the API is not asked for each letter. */
const PAUSE_MS = 150;

interface CustomerFieldProps {
  /** The external id; undefined for all customers. */
  value: string | undefined;
  onChange: (externalId: string | undefined) => void;
  /** For a field that adds one to others, and is empty again after it. */
  labelToAdd?: string;
}

/**
 * A customer by external id, which is found by the name, too. Those that have no record yet have usage as well, so any text will
 * do. What is typed counts when one is chosen, at Enter, and when the field is left: a part of an id is no customer.
 */
export function CustomerField({ value = '', onChange, labelToAdd }: CustomerFieldProps) {
  const [typed, setTyped] = useTyped(value);
  const [isLooking, setLooking] = useState(false);
  // What is chosen already is no search: then the first of all are offered.
  const [search] = useDebouncedValue(typed === value ? '' : typed.trim(), PAUSE_MS);
  const found = useQuery({
    ...read('/api/v1/customers', { query: { search, page_size: 8 } }),
    enabled: isLooking,
    placeholderData: keepPreviousData,
  });
  const names = new Map((found.data?.data ?? []).map((each) => [each.external_id, each.name]));
  /** Ids are compared to the letter: one that stands there or is suggested is taken with the white space at its ends. */
  const plain = (): string => (typed === value || names.has(typed) ? typed : typed.trim());
  const take = (text: string): void => {
    setTyped(text);
    if (text !== value) onChange(text === '' ? undefined : text);
    // The list writes what was chosen into the field, and is done with it only then.
    if (labelToAdd !== undefined) queueMicrotask(() => setTyped(''));
  };
  return (
    <Autocomplete
      label={labelToAdd ?? 'Customer'}
      size="xs"
      placeholder={labelToAdd === undefined ? 'All' : 'Name or id'}
      data={[...names.keys()]}
      // What the API found by name is an id that does not hold the name.
      filter={({ options }) => options}
      renderOption={({ option }) => <Suggestion id={option.value} name={names.get(option.value)} />}
      comboboxProps={{ width: 260, position: 'bottom-start' }}
      clearable
      clearButtonProps={{ 'aria-label': labelToAdd === undefined ? 'All customers' : 'Empty the field' }}
      onClear={() => take('')}
      value={typed}
      onChange={setTyped}
      onOptionSubmit={take}
      onFocus={({ currentTarget }) => {
        setLooking(true);
        currentTarget.select();
      }}
      onBlur={() => take(plain())}
      onKeyDown={({ key, currentTarget }) => {
        // With the arrows one has chosen one of the list, which then takes Enter for itself.
        if (key === 'Enter' && !currentTarget.hasAttribute('aria-activedescendant')) take(plain());
      }}
      w={170}
    />
  );
}

function Suggestion({ id, name }: { id: string; name: string | null | undefined }) {
  if (name === null || name === undefined) return id;
  return (
    <span className="suggestion">
      {name} <span className="muted">{id}</span>
    </span>
  );
}
