import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

/** Long enough to type a word without asking for each letter of it. */
const SEARCH_MS = 200;

interface SearchFieldProps {
  label: string;
  placeholder: string;
  /** Beside fields that have theirs above them. */
  isLabelShown?: boolean;
  /** What the list is searched for; undefined for all of it. */
  value: string | undefined;
  onSearch: (text: string) => void;
}

/** Searches a list while one types. A link, or the way back, is another search, and stands there as well. */
export function SearchField({ label, placeholder, isLabelShown = false, value = '', onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const [sent, setSent] = useState(value);
  const [given, setGiven] = useState(value);
  if (given !== value) {
    setGiven(value);
    // What was sent from here comes back while somebody types on.
    if (sent !== value) {
      setSent(value);
      setTyped(value);
    }
  }
  const search = useDebouncedCallback((text: string) => {
    setSent(text);
    onSearch(text);
  }, SEARCH_MS);
  return (
    <TextInput
      type="search"
      {...(isLabelShown ? { label } : { 'aria-label': label })}
      placeholder={placeholder}
      value={typed}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text);
        search(text.trim());
      }}
    />
  );
}
