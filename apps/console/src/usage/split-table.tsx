// What usage is split by, the largest first: the key to the colours of the chart, and where one chooses what stands side by side.

import { Checkbox, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import type { SearchTexts } from '../components/lists/search-texts.ts';
import { formatDecimal, shareOf } from '../text/decimals.ts';
import { AGGREGATIONS } from './aggregations.ts';
import { CustomerField } from './customer-field.tsx';
import type { Meter } from './meters.ts';
import {
  OTHERS,
  PARTS_DRAWN_MAX,
  swatchOf,
  wordOf,
  writeNames,
  type Drawn,
  type Part,
  type PartName,
} from './split.ts';
import type { SplitUsage } from './usage-reads.ts';
import { useUsageSearch } from './usage-search.ts';

interface SplitTableProps {
  meter: Meter;
  answer: SplitUsage;
  drawn: Drawn;
  chosen: readonly PartName[] | undefined;
}

interface Row {
  key: string;
  /** Undefined for the others. */
  part: Part | undefined;
  word: string;
  usage: string | null;
  events: number;
  swatch: string;
}

export function SplitTable({ meter, answer: { usage, parts, rest, split }, drawn, chosen }: SplitTableProps) {
  const [, change] = useUsageSearch();
  const { addsUp = false } = AGGREGATIONS[meter.aggregation_type];
  // What is added is read then, but for what has no name.
  const isKnown = (name: PartName): boolean => name !== null || parts.some((part) => part.name === null);
  const names = chosen?.filter(isKnown) ?? drawn.parts.map(({ name }) => name);
  const toggle = (name: PartName): void => {
    const next = names.includes(name) ? names.filter((each) => each !== name) : [...names, name];
    change({ shown: writeNames(next) });
  };
  const add = (name: string | undefined): void => {
    if (name === undefined || names.includes(name)) return;
    // It takes the place of the last one where there is no room for more.
    change({ shown: writeNames([...names.slice(0, PARTS_DRAWN_MAX - 1), name]) });
  };
  const columns: Column<Row>[] = [
    {
      title: 'Drawn',
      isTitleHidden: true,
      isTight: true,
      cell: ({ part, word }) =>
        part !== undefined && (
          <Checkbox
            aria-label={`Draw ${word}`}
            checked={names.includes(part.name)}
            disabled={!names.includes(part.name) && names.length >= PARTS_DRAWN_MAX}
            onChange={() => toggle(part.name)}
          />
        ),
    },
    {
      title: split === null ? 'Customer' : 'Value',
      cell: (row) => (
        <>
          <span className={row.swatch} />
          <Name row={row} split={split} />
        </>
      ),
    },
    { title: 'Usage', isNumber: true, cell: (row) => formatDecimal(row.usage) },
    ...(addsUp
      ? [{ title: 'Share', isNumber: true, cell: (row: Row) => shareOf(row.usage ?? '0', usage.total_usage ?? '0') }]
      : []),
    { title: 'Events', isNumber: true, isExtra: true, cell: ({ events }) => formatDecimal(events) },
  ];
  const rows = parts.map((part) => rowOf(part, swatchOf(drawn.parts.indexOf(part))));
  const { others } = drawn;
  if (others !== undefined) {
    // Behind those that are drawn, which it is the rest of: the ones that follow are in it.
    const place = parts.findLastIndex((part) => drawn.parts.includes(part)) + 1;
    const { total, events } = others;
    rows.splice(place, 0, sumOf('Others', { usage: total, events, swatch: swatchOf(OTHERS) }));
  }
  // What does not add up cannot be told of those that are not ticked, and of these only as the API tells it.
  if (!addsUp && rest !== undefined)
    rows.push(sumOf('All beyond the largest', { usage: rest.usage, events: rest.events, swatch: 'swatch' }));
  return (
    <div>
      <div className="usage-numbers usage-parts">
        <DataTable
          label={`Usage by ${split ?? 'customer'}`}
          columns={columns}
          rows={rows}
          keyOf={({ key }) => key}
          empty={<p>No event of these days has the key {split}.</p>}
        />
      </div>
      <p className="muted">
        {addsUp
          ? 'Others are all that are not ticked.'
          : 'This does not add up, so each has a line of its own, and there are no shares.'}
        {names.length >= PARTS_DRAWN_MAX && ` At most ${PARTS_DRAWN_MAX} stand side by side.`}
      </p>
      {split === null ? (
        <CustomerField labelToAdd="Add a customer" value={undefined} onChange={add} />
      ) : (
        <ValueField onAdd={add} />
      )}
    </div>
  );
}

/** A value counts at Enter, and when the field is left: a part of it is another value. */
function ValueField({ onAdd }: { onAdd: (value: string) => void }) {
  const [typed, setTyped] = useState('');
  const take = (): void => {
    if (typed !== '') onAdd(typed);
    setTyped('');
  };
  return (
    <TextInput
      label="Add a value"
      size="xs"
      value={typed}
      onChange={({ currentTarget: { value } }) => setTyped(value)}
      onKeyDown={({ key }) => key === 'Enter' && take()}
      onBlur={take}
      w={170}
    />
  );
}

function rowOf(part: Part, swatch: string): Row {
  const { name, usage, events } = part;
  return { key: writeNames([name]), part, word: wordOf(name), usage, events, swatch };
}

function sumOf(word: string, numbers: Pick<Row, 'usage' | 'events' | 'swatch'>): Row {
  return { key: word, part: undefined, word, ...numbers };
}

/** Leads to the usage of this one alone. */
function Name({ row: { part, word }, split }: { row: Row; split: string | null }) {
  if (part === undefined || part.name === null) return <span className="muted">{word}</span>;
  const only = split === null ? { customer: part.name } : { group: split, value: part.name };
  return (
    <Link
      className="row-link"
      from="/usage"
      to="/usage"
      search={(all: SearchTexts) => ({ ...all, split: undefined, shown: undefined, ...only })}
      resetScroll={false}
    >
      {word}
    </Link>
  );
}
