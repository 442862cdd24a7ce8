// How all rejected events of one reason are corrected at once: one key of the metadata is set. Pure.

export interface Correction {
  /** Where the value comes from; `none` sends the event as it is. */
  source: 'none' | 'field' | 'customer' | 'text';
  /** The key that is set, such as `user_id`. */
  key: string;
  /** Which key of the metadata has it, or the text itself. */
  value: string;
}

interface Correctable {
  customer_external_id: string;
  metadata: Record<string, unknown> | null;
}

/** Returns the metadata to send; undefined to send what is there, and `missing` where an event has no such value. */
export function correct(
  { source, key, value }: Correction,
  { customer_external_id: customer, metadata }: Correctable,
): Record<string, unknown> | undefined | 'missing' {
  if (source === 'none') return undefined;
  const found = { field: metadata?.[value], customer, text: value }[source];
  if (found === undefined || found === null || found === '') return 'missing';
  return { ...metadata, [key]: found };
}
