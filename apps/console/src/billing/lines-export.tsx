import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { client, send } from '../api/client.ts';
import type { Part } from '../api/pages.ts';
import { formatDecimal } from '../text/decimals.ts';
import { download } from '../text/download.ts';
import { Icon } from '../components/page/icons.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { readLinesFile } from './lines-file.ts';

/** Spreadsheets open 1,048,576 rows and no more. Who wants more reads it from the API, as CSV, too. */
const LINES_MAX = 1_000_000;

interface LinesExportProps {
  filter: {
    status?: 'OPEN' | 'PAID' | 'VOID' | 'UNCOLLECTIBLE';
    is_past_due?: 'true';
    customer_id?: string;
    subscription_id?: string;
    from?: string;
    to?: string;
    issued_from?: string;
    issued_to?: string;
  };
}

/** The lines of the finalized invoices of a filter, as one file. Drafts have none that stay: the API lists no lines of them. */
export function LinesExport({ filter }: LinesExportProps) {
  const [said, setSaid] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const reading = useRef(new AbortController());
  const opener = useRef<HTMLButtonElement>(null);
  // Nobody could stop it who has left the page.
  useEffect(() => () => reading.current.abort(), []);
  const run = async () => {
    setError(undefined);
    setBusy(true);
    setSaid(undefined);
    reading.current = new AbortController();
    const { signal } = reading.current;
    try {
      const { parts, count, isAll } = await readLinesFile((part) => readPage({ ...filter, ...part }, signal), {
        linesMax: LINES_MAX,
        onProgress: (lines) => setSaid(`${formatDecimal(lines)} lines read …`),
      });
      signal.throwIfAborted();
      download('invoice-lines.csv', parts);
      setSaid(isAll ? undefined : `The file has the first ${formatDecimal(count)} lines; there are more.`);
    } catch (problem) {
      setSaid(signal.aborted ? 'Stopped: there is no file.' : undefined);
      if (!signal.aborted) setError(problem);
    } finally {
      // What had the focus is gone, or was turned off meanwhile.
      flushSync(() => setBusy(false));
      if (document.activeElement === document.body) opener.current?.focus();
    }
  };
  return (
    <>
      <span className="muted" role="status">
        {said}
      </span>
      <Button
        ref={opener}
        variant="default"
        leftSection={<Icon name="download" />}
        loading={isBusy}
        onClick={() => void run()}
      >
        Lines as CSV
      </Button>
      {isBusy && (
        <Button variant="default" onClick={() => reading.current.abort()}>
          Stop
        </Button>
      )}
      <ProblemBox error={error} />
    </>
  );
}

async function readPage(query: LinesExportProps['filter'] & Part, signal: AbortSignal) {
  const asked = client.GET('/api/v1/invoice-lines', { params: { query: { ...query, format: 'json' } }, signal });
  const page = await send(asked);
  if (typeof page === 'string') throw new Error('lines came as text');
  return page;
}
