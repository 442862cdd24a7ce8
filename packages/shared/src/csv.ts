// CSV by RFC 4180 that no spreadsheet takes for formulas or dates. The console writes the same (apps/console/src/text/csv.ts), and a test
// holds the two against each other: it is a client, and imports nothing of Weir.

/** A value of a field. */
export type CsvField = string | number | null;

/**
 * What a spreadsheet would take for a formula: https://owasp.org/www-community/attacks/CSV_Injection. Some take the full-width
 * signs for the plain ones. A minus is harmless only before a number and nothing else: `-2+3` is a formula.
 */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]/;
const NEGATIVE_NUMBER = /^-\d+(?:\.\d+)?$/;

/** What a spreadsheet would take for a date, and save as one: the days `11/30`, and the exact amount `10/3`. */
const SLASHED = /^\d+(?:\/\d+)+$/;

/**
 * Where one would begin within a value: a spreadsheet that separates by semicolons, as in much of Europe, or by tabs begins a cell behind
 * each of these, also within quotes. The sign is looked for first, so that a long run of white space is walked once.
 */
const FORMULA_WITHIN = /(?=[=+\-@＝＋－＠])(?<=[;\t\r\n][\s"]*)/g;

function field(value: CsvField): string {
  const text = value === null ? '' : String(value);
  const isOther = SLASHED.test(text) || (FORMULA.test(text) && !NEGATIVE_NUMBER.test(text));
  const begun = isOther ? `'${text}` : text;
  const harmless = begun.replace(FORMULA_WITHIN, "'");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Returns rows as CSV, each ending in CR LF. Numbers stay as they are, with a point and without grouping. */
export function toCsv(rows: readonly (readonly CsvField[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('');
}
