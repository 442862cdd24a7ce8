import { Button } from '@mantine/core';
import { useState } from 'react';
import { client, send } from '../api/client.ts';
import { LONG_PAGE_SIZE_MAX } from '../api/limits.ts';
import { toCsv } from '../text/csv.ts';
import { formatDecimal } from '../text/decimals.ts';
import { download } from '../text/download.ts';
import { Icon } from '../components/page/icons.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';

interface LinesExportProps {
  filter: { status?: 'OPEN' | 'PAID' | 'VOID' | 'UNCOLLECTIBLE'; from?: string; to?: string };
}

/** The lines of all finalized invoices of a filter, as one file. */
export function LinesExport({ filter }: LinesExportProps) {
  const [read, setRead] = useState<number>();
  const [error, setError] = useState<unknown>();
  const run = async () => {
    setError(undefined);
    setRead(0);
    try {
      download('invoice-lines.csv', toCsv(await readLines(filter, setRead)));
    } catch (problem) {
      setError(problem);
    } finally {
      setRead(undefined);
    }
  };
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="download" />}
        loading={read !== undefined}
        onClick={() => void run()}
      >
        Lines as CSV
      </Button>
      <span className="muted" role="status">
        {read !== undefined && `${formatDecimal(read)} lines read …`}
      </span>
      <ProblemBox error={error} />
    </>
  );
}

type Row = (string | number | null)[];

async function readLines(filter: LinesExportProps['filter'], onProgress: (lines: number) => void): Promise<Row[]> {
  const rows: Row[] = [];
  let head: string[] | undefined;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { ...filter, limit: LONG_PAGE_SIZE_MAX, ...(cursor !== undefined && { cursor }) };
    const page = await send(client.GET('/api/v1/invoice-lines', { params: { query: { ...query, format: 'json' } } }));
    if (typeof page === 'string') throw new Error('lines came as text');
    const { data, meta } = page;
    for (const line of data) {
      head ??= Object.keys(line);
      rows.push(Object.values(line));
    }
    cursor = meta.next_cursor;
    onProgress(rows.length);
  }
  return head === undefined ? [] : [head, ...rows];
}
