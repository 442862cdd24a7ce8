import type { JsonValue, KeyedEvent } from '@weir/sdk';
import { StoppedError } from './errors.ts';
import type { ReadableRow, Row, Table } from './read-rows.ts';
import { compileSpec, toText, type ReadSpec } from './template.ts';
import { parseTimestamp, type TimestampFormat } from './timestamps.ts';

/** From which columns, templates or texts the fields of an event are made; see `compileSpec`. */
export interface EventSpecs {
  /** One of these two. */
  meter?: string | undefined;
  lookupKey?: string | undefined;
  customer: string;
  quantity: string;
  timestamp?: string | undefined;
  /** Without it, the key is made of the meter, the file's name and the row's line. */
  idempotencyKey?: string | undefined;
  metadata: readonly (readonly [key: string, spec: string])[];
  /** What the file is called in the keys; without it, its path and the day of its first row. */
  name?: string | undefined;
  /** Where the file lies. */
  path: string;
}

/** The event of a row, or why it has none. */
export type ToEvent = (row: Row) => { event: KeyedEvent } | { problem: string };

/**
 * Throws an OptionError when a spec names a column that the file does not have. What it returns throws a StoppedError when the
 * first row is bad and names the file.
 */
export function compileToEvent(specs: EventSpecs, column: Table['column'], time: TimestampFormat): ToEvent {
  const [meterField, meterSpec = ''] =
    specs.lookupKey === undefined ? ['meter_token', specs.meter] : ['lookup_key', specs.lookupKey];
  const meterOf = compileSpec(/^=|[{}]/.test(meterSpec) ? meterSpec : `=${meterSpec}`, column);
  const customerOf = compileSpec(specs.customer, column);
  const quantityOf = compileSpec(/^[\d.]+$/.test(specs.quantity) ? `=${specs.quantity}` : specs.quantity, column);
  const timestampOf = specs.timestamp === undefined ? undefined : compileSpec(specs.timestamp, column);
  const keyOf = specs.idempotencyKey === undefined ? undefined : compileSpec(specs.idempotencyKey, column);
  const metadataOf = specs.metadata.map(([key, spec]) => [key, compileSpec(spec, column)] as const);

  let { name } = specs;

  const toEvent: ToEvent = (row) => {
    if ('problem' in row) return row;
    let timestamp: string | undefined;
    if (timestampOf) {
      const text = toText(timestampOf(row))?.trim();
      if (!text) return missing('timestamp', specs.timestamp!);
      timestamp = parseTimestamp(text, time);
      if (timestamp === undefined) return { problem: `timestamp ${JSON.stringify(text)} cannot be read` };
      name ??= `${specs.path}@${timestamp.slice(0, 10)}`;
    }
    const meter = toText(meterOf(row));
    if (meter === undefined) return missing('meter', meterSpec);
    const customer = toText(customerOf(row));
    if (customer === undefined) return missing('customer', specs.customer);
    const quantityText = toText(quantityOf(row))?.trim();
    if (!quantityText) return missing('quantity', specs.quantity);
    const quantity = parseQuantity(quantityText);
    if (quantity === undefined) return { problem: `quantity ${JSON.stringify(quantityText)} is not a decimal number` };
    // Made of the line and not of its content: a row that is changed after it was counted must meet its first version
    // in the service and be refused, not be counted beside it.
    const key = keyOf ? toText(keyOf(row)) : `import:${meter}:${name ?? specs.path}:${row.line}`;
    if (key === undefined) return missing('idempotency key', specs.idempotencyKey!);
    const event: KeyedEvent = {
      ...(meterField === 'meter_token' ? { meter_token: meter } : { lookup_key: meter }),
      customer_external_id: customer,
      quantity,
      idempotency_key: key,
    };
    if (timestamp !== undefined) event.timestamp = timestamp;
    if (metadataOf.length > 0) event.metadata = readMetadata(metadataOf, row);
    return { event };
  };

  return (row) => {
    const made = toEvent(row);
    if ('problem' in made && namesFile(row, specs)) throw badFirstRow(row, made.problem);
    return made;
  };
}

/** Whether the keys of all rows hold the day of this one. */
export function namesFile({ row }: Row, { name, idempotencyKey }: EventSpecs): boolean {
  return row === 1 && name === undefined && idempotencyKey === undefined;
}

/** Why an import goes no further: once the row is corrected, its day may be another one, and each row that went in would count again. */
export function badFirstRow({ line }: Row, problem: string): StoppedError {
  return new StoppedError(
    `line ${line}: ${problem}. The day of the first row names the file, so this one has to be good before others go in: ` +
      'correct it, or give --name',
  );
}

/**
 * The number as JSON writes it, every digit kept: only a plus sign and zeros in front are taken off, and `.5` becomes
 * `0.5`. Undefined when the text is no decimal number.
 */
export function parseQuantity(text: string): string | undefined {
  const match = /^(?:\+|(-))?(?=\.?\d)0*(\d*)(\.\d+)?([eE][+-]?\d+)?$/.exec(text);
  if (!match) return undefined;
  const [, minus = '', whole, fraction = '', exponent = ''] = match;
  return `${minus}${whole || '0'}${fraction}${exponent}`;
}

/** Values without content are left out. */
function readMetadata(specs: readonly (readonly [string, ReadSpec])[], row: ReadableRow): Record<string, JsonValue> {
  return Object.fromEntries(
    specs.flatMap(([key, read]) => {
      const value = read(row);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function missing(field: string, spec: string): { problem: string } {
  return { problem: `has no ${field} (${spec} is empty)` };
}
