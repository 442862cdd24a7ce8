// A list as a file: all that its filter lets through, page after page, with the fields as the API names them.

import { loadPart } from '../../api/load-part.ts';
import { readPages, type PageOf, type Part } from '../../api/pages.ts';
import { toCsv } from '../../text/csv.ts';
import { formatDecimal } from '../../text/decimals.ts';
import { FileButton, type MadeFile } from './file-button.tsx';

/** A hundred requests: half a minute, for which somebody waits. Who wants more reads it from the API. */
const ROWS_MAX = 10_000;

interface ListExportProps<Row> {
  /** Of the file: `customers`. */
  name: string;
  /** Reads a page of what is shown. */
  readPage: (part: Part) => Promise<PageOf<Row>>;
}

export function ListExport<Row extends { id: string }>({ name, readPage }: ListExportProps<Row>) {
  const make = async (say: (words: string) => void, signal: AbortSignal): Promise<MadeFile> => {
    // It comes with what writes exact numbers, which most pages need for nothing else; and first, since without it there is no file.
    const { csvOf } = await loadPart(() => import('./list-csv.ts'));
    let [count, isAll] = [0, true];
    const rows = await readPages(async (part) => {
      signal.throwIfAborted();
      const read = await readPage(part);
      // Whoever has left hears nothing more of it.
      signal.throwIfAborted();
      count += read.data.length;
      isAll = read.meta.next_cursor === null;
      if (!isAll) say(`${formatDecimal(count)} read …`);
      return read;
    }, ROWS_MAX);
    const said = isAll ? undefined : `The file has the first ${formatDecimal(ROWS_MAX)}; there are more.`;
    return { name: `${name}.csv`, parts: toCsv(csvOf(rows)), said };
  };
  return <FileButton label="CSV" make={make} />;
}
