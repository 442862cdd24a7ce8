// Choosing a plan by typing a part of its name or lookup id: there may be thousands, so they are searched on the server.

import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { read, type Schema } from '../api/client.ts';
import { NO_FIELD } from '../components/forms/form.tsx';
import { nothingFound } from '../components/outcomes/nothing-found.ts';

type Plan = Schema<'Plan'>;

/** As many as one reads through; who looks for another one types a part of it. */
const SHOWN_MAX = 50;

/** While one types, the API is not asked for each letter. */
const PAUSE_MS = 200;

interface PlanSelectProps {
  label: string;
  value: string | null;
  onChange: (id: string | null) => void;
  /** Which plans are offered at all. */
  among?: { is_active?: 'true'; currency?: string; billing_interval?: Plan['billing_interval'] };
  /** One that is not offered. */
  butNot?: string;
  labelOf: (plan: Plan) => string;
  /** What is said where there is none to be offered. */
  nothing: string;
  placeholder?: string;
  error?: string | undefined;
  isRequired?: boolean;
  isClearable?: boolean;
  /** Whether it lies in a form and is no field of it. */
  isNoField?: boolean;
  w?: number;
}

export function PlanSelect({
  label,
  value,
  onChange,
  among = {},
  butNot,
  labelOf,
  nothing,
  ...props
}: PlanSelectProps) {
  const { placeholder = 'Search by name or id', error, isRequired = false, isClearable = false, isNoField, w } = props;
  const [typed, setTyped] = useState('');
  const [picked, setPicked] = useState<{ value: string; label: string }>();
  // One that was chosen before the form was opened is known by its id only.
  const given = useChosenPlan(picked?.value === value ? null : value);
  const shown = given === undefined ? picked : { value: given.id, label: labelOf(given) };
  // Choosing one writes its label into the field: that is no search.
  const [search] = useDebouncedValue(typed === shown?.label ? '' : typed.trim(), PAUSE_MS);
  const plans = useQuery({
    ...read('/api/v1/plans', { query: { ...among, search, limit: SHOWN_MAX } }),
    placeholderData: keepPreviousData,
  });
  const found = (plans.data?.data ?? [])
    .filter(({ id }) => id !== butNot)
    .map((plan) => ({ value: plan.id, label: labelOf(plan) }))
    // By a label that it has got meanwhile, the field would search for that, which is no part of a name.
    .map((each) => (each.value === shown?.value ? shown : each));
  const isShownElse = shown !== undefined && shown.value === value && !found.some((each) => each.value === value);
  return (
    <Select
      label={label}
      placeholder={placeholder}
      data={isShownElse ? [shown, ...found] : found}
      // What was searched for is found already.
      filter={({ options }) => options}
      value={value}
      onChange={(id, option) => {
        setPicked(option ?? undefined);
        onChange(id);
      }}
      searchValue={typed}
      onSearchChange={setTyped}
      onKeyDown={(event) => {
        // A search that nothing was chosen of yet: the form would be sent without it.
        if (event.key === 'Enter' && typed !== (shown?.label ?? '')) event.preventDefault();
      }}
      nothingFoundMessage={
        plans.isPlaceholderData ? 'Searching …' : nothingFound(plans, search === '' ? nothing : 'No such plan')
      }
      error={error}
      clearable={isClearable}
      required={isRequired}
      searchable
      {...(w !== undefined && { w })}
      {...(isNoField === true && NO_FIELD)}
    />
  );
}

/** The whole of a plan that is chosen, once it is read. */
export function useChosenPlan(id: string | null) {
  const { data } = useQuery({ ...read('/api/v1/plans/{id}', { path: { id: id ?? '' } }), enabled: id !== null });
  return data?.id === id ? data : undefined;
}

/** A plan as a subscription is put on it. */
export const planOnSale = ({ name, billing_interval: interval, currency }: Plan): string =>
  `${name} (every ${interval}, ${currency})`;
