// A list as a file: all that its filter lets through, page after page, with the fields as the API names them.

import { Button } from '@mantine/core';
import { useState } from 'react';
import { PAGE_SIZE_MAX } from '../../api/limits.ts';
import { readPages, type PageOf } from '../../api/pages.ts';
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
  /** Reads a page of what is shown, of the most rows that one may have. */
  readPage: (page: number, pageSize: number) => Promise<PageOf<Row> & { meta: { total: number } }>;
}

export function ListExport<Row extends { id: string }>({ name, readPage }: ListExportProps<Row>) {
  const [progress, setProgress] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async (): Promise<void> => {
    setError(undefined);
    setBusy(true);
    setProgress(undefined);
    let total = 0;
    try {
      const rows = await readPages(async (page) => {
        const read = await readPage(page, PAGE_SIZE_MAX);
        ({ total } = read.meta);
        setProgress(`${formatDecimal(Math.min(page * PAGE_SIZE_MAX, total))} of ${formatDecimal(total)} read …`);
        return read;
      }, ROWS_MAX / PAGE_SIZE_MAX);
      download(`${name}.csv`, toCsv(csvOf(rows)));
      setProgress(
        total > ROWS_MAX ? `The file has the first ${formatDecimal(ROWS_MAX)} of ${formatDecimal(total)}.` : undefined,
      );
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
