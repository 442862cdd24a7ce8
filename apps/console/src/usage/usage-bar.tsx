// Above the chart: how long its periods are, what it is split by, and its numbers as a file.

import { Button, SegmentedControl, Switch } from '@mantine/core';
import { Icon } from '../components/page/icons.tsx';
import { toCsv } from '../text/csv.ts';
import { download } from '../text/download.ts';
import type { Meter } from './meters.ts';
import { writeSplit, type SplitKey } from './split.ts';
import type { Scope } from './usage-reads.ts';
import { useUsageSearch } from './usage-search.ts';
import { BUCKET_WORDS, BUCKETS, type UsageWindow } from './window.ts';

/** What is shown, as rows under their header. */
export type Csv = (string | number | null)[][];

interface UsageBarProps {
  scope: Scope;
  split: SplitKey | undefined;
  /** The window that is shown, which may be that of before. */
  shown: UsageWindow;
  /** Undefined while some of it is not there. */
  csv: (() => Csv) | undefined;
}

const WHOLE = 'whole';

export function UsageBar({ scope: { meter, window, customer, only, isZoneKnown }, split, shown, csv }: UsageBarProps) {
  const [search, change] = useUsageSearch();
  const splits = (meter.metadata_keys ?? []).map((key) => ({ value: writeSplit(key), label: `By ${key}` }));
  // Who is told apart cannot be one alone, and the order of customers is that of all their usage.
  if (customer === undefined && only === undefined) splits.push({ value: writeSplit(null), label: 'By customer' });
  return (
    <div className="toolbar usage-bar">
      <SegmentedControl
        aria-label="Bucket"
        data={BUCKETS.map((value) => ({ value, label: BUCKET_WORDS[value] }))}
        value={window.by}
        onChange={(by) => change({ by })}
      />
      {splits.length > 0 && (
        <SegmentedControl
          className="usage-splits"
          aria-label="Split"
          data={[{ value: WHOLE, label: 'In all' }, ...splits]}
          value={split === undefined ? WHOLE : writeSplit(split)}
          onChange={(next) => change({ split: next === WHOLE ? undefined : next, shown: undefined })}
        />
      )}
      {split === undefined && (
        <Switch
          label="Compare with the period before"
          checked={search.compare === '1'}
          onChange={({ currentTarget: { checked } }) => change({ compare: checked ? '1' : undefined })}
        />
      )}
      {Object.entries(only ?? {}).map(([key, value]) => (
        <Button
          key={key}
          variant="light"
          rightSection={<Icon name="close" />}
          aria-label={`Only ${key} ${value}: show all`}
          onClick={() => change({ group: undefined, value: undefined })}
        >
          {key}: {value}
        </Button>
      ))}
      <Button
        className="is-end"
        variant="default"
        leftSection={<Icon name="download" />}
        disabled={csv === undefined || !isZoneKnown}
        onClick={() => csv !== undefined && download(fileName(meter, shown, split), toCsv(csv()))}
      >
        CSV
      </Button>
    </div>
  );
}

function fileName({ name }: Meter, { from, to, by }: UsageWindow, split: SplitKey | undefined): string {
  const parts = split === undefined ? [] : [split ?? 'customer', 'and'];
  return `${['usage', name, from, to, 'by', ...parts, by].map(slug).join('-')}.csv`;
}

const slug = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
