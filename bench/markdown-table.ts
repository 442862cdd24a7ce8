/** A Markdown table that is also good to read in a terminal; the first column is text, the others are numbers or text. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  others: 'numbers' | 'text' = 'numbers',
): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length), 1));
  const isText = (column: number) => column === 0 || others === 'text';
  const pad = (cell: string, column: number) =>
    isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (cells: readonly string[]) => `| ${cells.map(pad).join(' | ')} |`;
  const rule = widths.map((width, column) => `${'-'.repeat(width + 1)}${isText(column) ? '-' : ':'}`);
  return [line(head), `|${rule.join('|')}|`, ...rows.map(line)].join('\n');
}
