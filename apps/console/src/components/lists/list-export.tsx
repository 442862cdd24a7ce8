// A list as a file: all that its filter lets through, page after page, with the fields as the API names them.

import { Button } from '@mantine/core';
import { useState } from 'react';
import { readPages, type PageOf, type Part } from '../../api/pages.ts';
import { toCsv } from '../../text/csv.ts';
import { formatDecimal } from '../../text/decimals.ts';
import { download } from '../../text/download.ts';
import { ProblemBox } from '../outcomes/problem-box.tsx';
import { Icon } from '../page/icons.tsx';
import { csvOf } from './list-csv.ts';

/** A hundred requests: half a minute, for which somebody waits. Who wants more reads it from the API. */
const ROWS_MAX = 10_000;

interface ListExportProps<Row> {
  /** Of the file: `customers`. */
  name: string;
  /** Reads a page of what is shown. */
  readPage: (part: Part) => Promise<PageOf<Row>>;
}

export function ListExport<Row extends { id: string }>({ name, readPage }: ListExportProps<Row>) {
  const [progress, setProgress] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async (): Promise<void> => {
    setError(undefined);
    setBusy(true);
    setProgress(undefined);
    let [count, isAll] = [0, true];
    try {
      const rows = await readPages(async (part) => {
        const read = await readPage(part);
        count += read.data.length;
        isAll = read.meta.next_cursor === null;
        setProgress(`${formatDecimal(count)} read …`);
        return read;
      }, ROWS_MAX);
      download(`${name}.csv`, toCsv(csvOf(rows)));
      setProgress(isAll ? undefined : `The file has the first ${formatDecimal(ROWS_MAX)}; there are more.`);
    } catch (problem) {
      setProgress(undefined);
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <span className="muted" role="status">
        {progress}
      </span>
      <Button variant="default" leftSection={<Icon name="download" />} loading={isBusy} onClick={() => void run()}>
        CSV
      </Button>
      <ProblemBox error={error} />
    </>
  );
}
