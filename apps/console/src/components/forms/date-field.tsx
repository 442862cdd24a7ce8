import { ActionIcon, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { Icon } from '../page/icons.tsx';
import { formatDay, isDay, readDay } from '../../text/instants.ts';

interface DateFieldProps {
  label: string;
  /** Without words above it. */
  isLabelHidden?: boolean;
  description?: string;
  placeholder?: string;
  /** `2026-11-23`, or what was typed and is no day; empty for none. */
  value: string;
  /** What cannot be read as a day is passed on as it was typed: a form has to be refused for it, and not sent without it. */
  onChange: (day: string) => void;
  error?: string | undefined;
  min?: string | undefined;
  max?: string | undefined;
}

/** A day, in the form in which days are written everywhere. A browser's own field would write it in another one. */
export function DateField({
  label,
  isLabelHidden = false,
  description,
  placeholder,
  value,
  onChange,
  error,
  min,
  max,
}: DateFieldProps) {
  const calendar = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(written(value));
  const [given, setGiven] = useState(value);
  if (given !== value) {
    setGiven(value);
    // Not while it is being typed: `1 Nov 2026` is a day on the way to `1 Nov 20261`.
    if (readDay(typed) !== value) setTyped(written(value));
  }
  const isUnread = typed.trim() !== '' && readDay(typed) === undefined;
  const [isLeft, setLeft] = useState(true);
  return (
    <TextInput
      {...(isLabelHidden ? { 'aria-label': label } : { label })}
      description={description}
      placeholder={placeholder ?? 'Day month year'}
      autoComplete="off"
      value={typed}
      error={error ?? (isUnread && isLeft ? 'Write a day such as 23 Nov 2026.' : undefined)}
      onFocus={() => setLeft(false)}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text);
        const day = readDay(text);
        if (day !== undefined || text.trim() === '') onChange(day ?? '');
      }}
      // Enter sends a form without leaving the field.
      onKeyDown={({ key }) => key === 'Enter' && isUnread && onChange(typed.trim())}
      onBlur={() => {
        setLeft(true);
        if (isUnread) onChange(typed.trim());
        else setTyped(written(readDay(typed) ?? ''));
      }}
      rightSection={
        <span className="calendar">
          <input
            ref={calendar}
            type="date"
            className="only-read-out"
            tabIndex={-1}
            aria-hidden="true"
            value={isDay(value) ? value : ''}
            min={min}
            max={max}
            onChange={({ currentTarget: { value: day } }) => {
              setTyped(written(day));
              onChange(day);
            }}
          />
          <ActionIcon
            aria-label={`${label}: choose from a calendar`}
            size={22}
            onClick={() => calendar.current?.showPicker()}
          >
            <Icon name="calendar" />
          </ActionIcon>
        </span>
      }
    />
  );
}

const written = (value: string): string => (isDay(value) ? formatDay(value) : value);
