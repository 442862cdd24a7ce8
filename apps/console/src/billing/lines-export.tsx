import { client, send } from '../api/client.ts';
import type { Part } from '../api/pages.ts';
import { FileButton, type MadeFile } from '../components/lists/file-button.tsx';
import { formatDecimal } from '../text/decimals.ts';
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
  const make = async (say: (words: string) => void, signal: AbortSignal): Promise<MadeFile> => {
    const { parts, count, isAll } = await readLinesFile((part) => readPage({ ...filter, ...part }, signal), {
      linesMax: LINES_MAX,
      onProgress: (lines) => say(`${formatDecimal(lines)} lines read …`),
    });
    const said = isAll ? undefined : `The file has the first ${formatDecimal(count)} lines; there are more.`;
    return { name: 'invoice-lines.csv', parts, said };
  };
  return <FileButton label="Lines as CSV" make={make} />;
}

async function readPage(query: LinesExportProps['filter'] & Part, signal: AbortSignal) {
  const asked = client.GET('/api/v1/invoice-lines', { params: { query: { ...query, format: 'json' } }, signal });
  const page = await send(asked);
  if (typeof page === 'string') throw new Error('lines came as text');
  return page;
}
