import { Select } from '@mantine/core';
import type { Meter } from './meters.ts';

/** As many as one reads through; who looks for another one types a part of it. */
const SHOWN_MAX = 50;

export const NO_METER = 'No such meter';

interface MeterSelectProps {
  meters: readonly Pick<Meter, 'id' | 'name' | 'meter_token' | 'unit' | 'status'>[];
  value: string | null;
  onChange: (id: string | null) => void;
  /** What stands there while none is chosen; without it, one is always chosen. */
  placeholder?: string;
  /** What is said where none is found. */
  nothing?: string;
}

/** One of many meters, found by a part of its name, its unit or its token. Archived ones come last. */
export function MeterSelect({ meters, value, onChange, placeholder, nothing = NO_METER }: MeterSelectProps) {
  const texts = new Map(meters.map((each) => [each.id, `${each.name} ${each.unit ?? ''} ${each.meter_token}`]));
  const choices = (status: Meter['status']) =>
    meters.filter((each) => each.status === status).map(({ id, name }) => ({ value: id, label: name }));
  const archived = choices('ARCHIVED');
  return (
    <Select
      label="Meter"
      data={archived.length === 0 ? choices('ACTIVE') : groupsOf(choices('ACTIVE'), archived)}
      filter={({ options, search, limit }) => found(options as readonly Option[], texts, search, limit)}
      limit={SHOWN_MAX}
      nothingFoundMessage={nothing}
      comboboxProps={{ width: 300, position: 'bottom-start' }}
      value={value}
      onChange={onChange}
      // What is typed takes the place of what is chosen.
      onFocus={({ currentTarget }) => currentTarget.select()}
      searchable
      selectFirstOptionOnChange
      {...(placeholder === undefined
        ? { allowDeselect: false }
        : { placeholder, clearable: true, clearButtonProps: { 'aria-label': 'All meters' } })}
      w={190}
    />
  );
}

interface Choice {
  value: string;
  label: string;
}

type Option = Choice | { group: string; items: Choice[] };

const groupsOf = (active: Choice[], archived: Choice[]): { group: string; items: Choice[] }[] => [
  { group: 'In use', items: active },
  { group: 'Archived', items: archived },
];

/** Those that have every word that was typed. The one that is chosen, which stands in the field until then, hides none. */
function found(options: readonly Option[], texts: Map<string, string>, search: string, limit: number): Option[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const isFound = ({ value }: Choice): boolean => {
    const text = texts.get(value)?.toLowerCase() ?? '';
    return words.every((word) => text.includes(word));
  };
  let left = limit;
  const taken = (choices: Choice[]): Choice[] => {
    const some = choices.filter(isFound).slice(0, left);
    left -= some.length;
    return some;
  };
  return options
    .map((option) => ('group' in option ? { ...option, items: taken(option.items) } : option))
    .flatMap((option): Option[] => ('group' in option ? [option] : taken([option])));
}
