// Arrays as the text that Postgres reads (PostgreSQL documentation, 8.15.6, "Array Input and Output Syntax"). The driver makes
// them as well, but looks at the type of every value and escapes each of them, also where nothing needs it.

/** An array of values that need no quotes: numbers, times, UUIDs and booleans. Not for what anybody may have written. */
export function plainArray(values: readonly (string | boolean | null)[]): string {
  // join would write nothing for null.
  return `{${values.includes(null) ? values.map(String).join(',') : values.join(',')}}`;
}

const TO_ESCAPE = /["\\]/g;

/** An array of any texts. */
export function textArray(values: readonly (string | null)[]): string {
  let text = '{';
  for (const value of values) {
    if (text.length > 1) text += ',';
    if (value === null) text += 'NULL';
    else text += `"${value.includes('"') || value.includes('\\') ? value.replace(TO_ESCAPE, '\\$&') : value}"`;
  }
  return `${text}}`;
}
