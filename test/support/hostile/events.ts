// What is no event, and what is one though it looks strange: the JSON text of the members that differ from a good event.

export type Literals = Record<string, string | undefined>;

/** The JSON text of an object, from the text of each value; undefined leaves a key out. */
export function objectOf(literals: Literals): string {
  const members = Object.entries(literals).filter(([, literal]) => literal !== undefined);
  return `{${members.map(([key, literal]) => `"${key}":${literal}`).join(',')}}`;
}

export const keysOf = (count: number) =>
  objectOf(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, '1'])));
export const nested = (levels: number) => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);
export const ahead = (hours: number) => JSON.stringify(new Date(Date.now() + hours * 3_600_000).toISOString());

// Well-formed JSON, not a valid event. Title, the members that differ from a good event, and what is answered.
export const notEvents: [title: string, literals: Literals, status?: number, code?: string][] = [
  ['no meter_token', { meter_token: undefined }],
  ['an empty meter_token', { meter_token: '""' }],
  ['a meter_token that is null', { meter_token: 'null' }],
  ['a meter_token that nobody has', { meter_token: '"mtr_nobody"' }, 404, 'meter_not_found'],
  ['a meter_token of 256 characters', { meter_token: `"${'x'.repeat(256)}"` }],
  ['a meter_token and a lookup_key', { lookup_key: '"tokens"' }],
  ['no meter_token, and a lookup_key that is null', { meter_token: undefined, lookup_key: 'null' }],
  ['no meter_token, and an empty lookup_key', { meter_token: undefined, lookup_key: '""' }],
  ['no meter_token, and a lookup_key that is a number', { meter_token: undefined, lookup_key: '5' }],
  [
    'no meter_token, and a lookup_key of 256 characters',
    { meter_token: undefined, lookup_key: `"${'x'.repeat(256)}"` },
  ],
  ['no meter_token, and a NUL character in the lookup_key', { meter_token: undefined, lookup_key: '"a\\u0000b"' }],
  ['a lookup_key that nobody has', { meter_token: undefined, lookup_key: '"Nobody’s"' }, 404, 'meter_not_found'],
  ['no customer', { customer_external_id: undefined }],
  ['an empty customer', { customer_external_id: '""' }],
  ['a customer of 256 characters', { customer_external_id: `"${'x'.repeat(256)}"` }],
  ['a customer that is a number', { customer_external_id: '42' }],
  ['a NUL character in the customer', { customer_external_id: '"a\\u0000b"' }],
  ['half of a surrogate pair in the customer', { customer_external_id: '"\\ud83d"' }],
  ['no quantity', { quantity: undefined }],
  ['a quantity of 0', { quantity: '0' }],
  ['a quantity of -0', { quantity: '-0' }],
  ['a quantity of -1', { quantity: '-1' }],
  ['a quantity that underflows to 0', { quantity: '1e-400' }],
  ['a quantity that overflows', { quantity: '1e400' }],
  ['a quantity one beyond the limit', { quantity: '9007199254740992' }],
  ['a quantity that a float would round into the limit', { quantity: '9007199254740993' }],
  ['a quantity a fraction beyond the limit', { quantity: '9007199254740991.5' }],
  ['a quantity a smaller fraction beyond the limit', { quantity: '9007199254740991.4' }],
  ['a quantity of more than 400 digits', { quantity: `0.${'1'.repeat(400)}` }],
  ['a quantity that is a text', { quantity: '"1"' }],
  ['a quantity that is a hexadecimal text', { quantity: '"0x10"' }],
  ['a quantity that is true', { quantity: 'true' }],
  ['a quantity that is null', { quantity: 'null' }],
  ['a quantity that is an array', { quantity: '[1]' }],
  ['a quantity that is an object', { quantity: '{"valueOf":1}' }],
  ['an empty timestamp', { timestamp: '""' }],
  ['a timestamp that is null', { timestamp: 'null' }],
  ['a timestamp that is a number', { timestamp: '1767225600' }],
  ['a timestamp without an offset', { timestamp: '"2026-01-31T09:30:00"' }],
  ['a timestamp that is only a date', { timestamp: '"2026-01-31"' }],
  ['the 30th of February', { timestamp: '"2026-02-30T00:00:00Z"' }],
  ['a leap second', { timestamp: '"2016-12-31T23:59:60Z"' }],
  ['24 o’clock', { timestamp: '"2026-01-31T24:00:00Z"' }],
  ['the year 0', { timestamp: '"0000-01-01T00:00:00Z"' }],
  ['the year 1999', { timestamp: '"1999-12-31T23:59:59Z"' }],
  ['a year of five digits', { timestamp: '"10000-01-01T00:00:00Z"' }],
  ['the timestamp now', { timestamp: '"now"' }],
  ['the timestamp infinity', { timestamp: '"infinity"' }],
  ['a timestamp more than 24 hours ahead', { timestamp: ahead(25) }],
  ['an unknown field', { note: '"x"' }],
  ['a misspelt idempotency_key', { idempotencyKey: '"k"' }],
  ['an empty idempotency_key', { idempotency_key: '""' }],
  ['an idempotency_key that is null', { idempotency_key: 'null' }],
  ['an idempotency_key of 256 characters', { idempotency_key: `"${'x'.repeat(256)}"` }],
  ['a NUL character in the idempotency_key', { idempotency_key: '"a\\u0000"' }],
  ['metadata that is null', { metadata: 'null' }],
  ['metadata that is an array', { metadata: '[]' }],
  ['metadata that is a text', { metadata: '"{}"' }],
  ['metadata of 51 keys', { metadata: keysOf(51) }],
  ['metadata of 8 KiB and one byte', { metadata: `{"a":"${'x'.repeat(8193 - 8)}"}` }],
  ['metadata of 6 levels', { metadata: nested(6) }],
  ['metadata of 100,000 levels', { metadata: `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}` }],
  ['a NUL character in metadata', { metadata: '{"a":["\\u0000"]}' }],
  ['a NUL character in a key of metadata', { metadata: '{"\\u0000":1}' }],
  ['half of a surrogate pair in metadata', { metadata: '{"a":"\\udc00\\ud83d"}' }],
  ['a number in metadata that overflows', { metadata: '{"a":1e400}' }],
  ['a quantity that stands twice', { quantity: '1,"quantity":1000' }, 400, 'malformed_json'],
  ['a quantity that stands twice in two spellings', { quantity: '1,"qu\\u0061ntity":1000' }, 400, 'malformed_json'],
  ['a customer that stands twice', { 'customer_external_id":"x","customer_external_id': '"y"' }, 400, 'malformed_json'],
];
