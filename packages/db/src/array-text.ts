// Arrays as the text that Postgres reads (PostgreSQL documentation, 8.15.6, "Array Input and Output Syntax"). The driver makes
// them as well, but looks at the type of every value and escapes each of them, also where nothing needs it.

/** An array of values that need no quotes: numbers, times, UUIDs and booleans. Not for what anybody may have written. */
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
  // join would write nothing for null.
  return `{${values.includes(null) ? values.map(String).join(',') : values.join(',')}}`;
}

const TO_ESCAPE = /["\\]/;
const EACH_TO_ESCAPE = /["\\]/g;
/** What JSON writes in another way than Postgres reads it. */
const CONTROL = /[^ -\uffff]/;

/** An array of any texts. */
export function textArray(values: readonly (string | null)[]): string {
  let text = '{';
  for (const value of values) {
    if (text.length > 1) text += ',';
    if (value === null) text += 'NULL';
    else text += quoted(value);
  }
  return `${text}}`;
}

function quoted(value: string): string {
  if (!TO_ESCAPE.test(value)) return `"${value}"`;
  // The two write quotes and backslashes in the same way, and JSON takes a quarter of the time.
  return CONTROL.test(value) ? `"${value.replace(EACH_TO_ESCAPE, '\\$&')}"` : JSON.stringify(value);
}
