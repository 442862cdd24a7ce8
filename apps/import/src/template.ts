import type { JsonValue } from '@weir/sdk';
import { OptionError } from './errors.ts';
import type { ReadableRow, Table } from './read-rows.ts';

/** Returns what an option takes from a row; undefined when a column that it names is empty or missing. */
export type ReadSpec = (row: ReadableRow) => JsonValue | undefined;

/**
 * Compiles an option's value: `=text` is that text; with braces it is a template, in which `{column}`, `{row}`,
 * `{line}` and `{row%20}` stand for values and `{{` and `}}` for braces; anything else is a column's name. Throws an
 * OptionError when the file has no such column or a brace stands alone.
 */
export function compileSpec(spec: string, column: Table['column']): ReadSpec {
  if (spec.startsWith('=')) {
    const text = spec.slice(1);
    return () => text;
  }
  if (/[{}]/.test(spec)) return compileTemplate(spec, column);
  const read = column(spec);
  return (row) => read(row.values);
}

/** The value as text, undefined for what has none: null, arrays, objects and the empty text. */
export function toText(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null || value === '' || typeof value === 'object') return undefined;
  return String(value);
}

function compileTemplate(template: string, column: Table['column']): ReadSpec {
  const parts: ReadSpec[] = [];
  for (const [token, placeholder] of template.matchAll(/\{\{|\}\}|\{([^{}]+)\}|[{}]|[^{}]+/g)) {
    if (token === '{' || token === '}') {
      throw new OptionError(`"${template}": a brace stands alone; {{ and }} are written for braces in the text`);
    }
    if (placeholder !== undefined) parts.push(compilePlaceholder(placeholder, column));
    else parts.push(() => (token === '{{' ? '{' : token === '}}' ? '}' : token));
  }
  return (row) => {
    let text = '';
    for (const part of parts) {
      const value = toText(part(row));
      if (value === undefined) return undefined;
      text += value;
    }
    return text;
  };
}

function compilePlaceholder(placeholder: string, column: Table['column']): ReadSpec {
  const counter = /^(row|line)(?:%([1-9]\d*))?$/.exec(placeholder);
  if (!counter) {
    const read = column(placeholder);
    return (row) => read(row.values);
  }
  const name = counter[1] as 'row' | 'line';
  const modulus = counter[2] === undefined ? undefined : Number(counter[2]);
  return (row) => (modulus === undefined ? row[name] : row[name] % modulus);
}
