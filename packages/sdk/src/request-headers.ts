// The headers of a request that a caller gives. Those that the client writes itself are refused: two of one name would be a guess.

export interface HeaderOptions {
  /** The `etag` of what was read. A PATCH then changes that or nothing: `precondition_failed` says that somebody was quicker. */
  ifMatch?: string | undefined;
  /** The `etag` of before: a GET of what is still the same has the status 304, and an empty object. */
  ifNoneMatch?: string | undefined;
  /** Others, such as `traceparent`. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Of each header that a caller cannot set, what to do in its place. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['authorization', 'give serviceToken to the client'],
  ['x-api-key', 'give apiKey to the client'],
  ['idempotency-key', 'use the option idempotencyKey'],
  ['if-match', 'use the option ifMatch'],
  ['if-none-match', 'use the option ifNoneMatch'],
  ...[
    'accept',
    'accept-encoding',
    'connection',
    'content-encoding',
    'content-length',
    'content-type',
    'cookie',
    'expect',
    'host',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
  ].map((name) => [name, 'leave it out'] as const),
]);

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

/** Returns them as they are sent. Throws a TypeError for one that is not the caller's to set, or that no request can carry. */
export function readHeaders(options: HeaderOptions): Record<string, string> {
  const { ifMatch, ifNoneMatch, headers = {} } = options;
  // Left out silently, the change would be made whoever has changed it.
  if ('ifMatch' in options && ifMatch === undefined)
    throw new TypeError('ifMatch is undefined: what was read has no ETag. Leave it out to change it in any case');
  for (const name of Object.keys(headers)) {
    const instead = REFUSED.get(name.toLowerCase());
    if (instead !== undefined) throw new TypeError(`the header ${name} is the client's own: ${instead}`);
  }
  const sent = {
    ...headers,
    ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
  };
  for (const [name, value] of Object.entries(sent))
    if (!TOKEN.test(name) || !VALUE.test(value))
      throw new TypeError(`the header ${JSON.stringify(name)} holds a line break or another character that none has`);
  return sent;
}

/** Of the bytes of a key: neither control characters nor, at its ends, the spaces that HTTP takes off. */
const KEY = /^[\x21-\x7e\x80-\xff]([\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/;

/**
 * Returns the key of a request as its header carries it: a character for each byte of its UTF-8, in which Weir reads it. Throws a TypeError
 * for one that would not arrive as it is.
 */
export function readRequestKey(given: unknown): string {
  if (typeof given === 'string' && given.isWellFormed()) {
    const bytes = Buffer.from(given, 'utf8').toString('latin1');
    if (KEY.test(bytes)) return bytes;
  }
  const rule = 'a text without control characters, or spaces at its ends';
  throw new TypeError(`idempotencyKey must be ${rule}, and not ${JSON.stringify(given)}`);
}
