import { StoppedError } from './errors.ts';

/** A line as it stands in the file, without its line feed; `endByte` is where the next one begins. */
export interface Line {
  /** From 1. */
  number: number;
  text: string;
  endByte: number;
  /** Whether a line feed ends it; the last line of a file may lack one, and may then go on. */
  isEnded: boolean;
  /** Why it was not kept; its text is empty then. */
  problem?: string;
}

/** No row of usage is near this long; a file without line feeds must not fill the memory. */
const lineBytesMax = 1_048_576;

/**
 * Lines end at `\n` (a `\r` before it stays); the last may lack it. Of a line longer than 1 MiB nothing is kept; throws a StoppedError
 * where the first one is.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 0;
  let endByte = 0;
  let rest: Buffer = Buffer.alloc(0);
  /** Of the line that `rest` is the end of. */
  let droppedBytes = 0;
  const line = (bytes: Buffer, isEnded = true): Line => {
    number += 1;
    const isLong = droppedBytes + bytes.length > lineBytesMax;
    droppedBytes = 0;
    if (isLong && number === 1) throw new StoppedError('Line 1 is longer than 1 MiB: not a file of rows');
    if (isLong) return { number, text: '', endByte, isEnded, problem: 'is longer than 1 MiB' };
    const text = bytes.toString('utf8');
    return { number, text: number === 1 ? text.replace(/^\uFEFF/, '') : text, endByte, isEnded };
  };
  for await (const chunk of chunks) {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      endByte += end + 1 - start;
      yield line(data.subarray(start, end));
      start = end + 1;
    }
    rest = data.subarray(start);
    if (droppedBytes + rest.length <= lineBytesMax) continue;
    if (number === 0) line(rest);
    droppedBytes += rest.length;
    endByte += rest.length;
    rest = rest.subarray(rest.length);
  }
  endByte += rest.length;
  if (droppedBytes + rest.length > 0) yield line(rest, false);
}
