export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** An object of JSON. Any interface will do; a list, a Map or a Set would lose what is in it. */
export type Metadata = { readonly [key: string]: JsonValue } | (object & { readonly [Symbol.iterator]?: never });

/** One usage event, in the words of the request body. Its meter is named by its token, or by the `lookup_key` of its feature. */
export type UsageEvent = EventFields &
  ({ meter_token: string; lookup_key?: undefined } | { lookup_key: string; meter_token?: undefined });

interface EventFields {
  /** Your own identifier of the customer. */
  customer_external_id: string;
  /**
   * More than 0. A string is a decimal literal (`'0.1234567890123456789'`) and arrives digit for digit; a number
   * arrives as JavaScript prints it.
   */
  quantity: number | string;
  /**
   * When it happened. A string is ISO 8601 with an offset. Left out: the time of receipt, or, in `queue`, the time when it was
   * queued.
   */
  timestamp?: string | Date | undefined;
  /** Counts the event once however often it is sent. A UUID is made when left out. */
  idempotency_key?: string | undefined;
  /** For a UNIQUE_COUNT meter, `user_id` is the value to count. */
  metadata?: Metadata | undefined;
}

export type KeyedEvent = UsageEvent & { idempotency_key: string };

/** An event as it is sent. */
export interface EncodedEvent {
  key: string;
  /** One line of JSON. */
  json: string;
}

/** Gives the event a key unless it has one, and writes it as JSON. Throws like `encodeEvent`, and a TypeError for a key that is no text. */
export function keyAndEncode(event: UsageEvent): EncodedEvent {
  const key = readKey(event.idempotency_key ?? crypto.randomUUID());
  return { key, json: encodeEvent({ ...event, idempotency_key: key }) };
}

/** Programs without types have ids that are numbers. In an outbox nobody would know such an event by its key. */
function readKey(given: unknown): string {
  if (typeof given === 'string') return given;
  throw new TypeError(`idempotency_key must be a text, and not the ${typeof given} ${String(given)}`);
}

const BEFORE_QUANTITY = ',"quantity":';

/**
 * Returns the event as JSON text. It is put together here, since `JSON.stringify` cannot write a number that a double does not
 * hold. Throws a RangeError when the quantity is no JSON number.
 */
export function encodeEvent(event: KeyedEvent): string {
  const { quantity, ...rest } = event;
  return `${JSON.stringify(rest).slice(0, -1)}${BEFORE_QUANTITY}${encodeQuantity(quantity)}}`;
}

/** Returns the event that `encodeEvent` wrote, its quantity as a literal with all its digits. Throws when it wrote no such text. */
export function decodeEvent(json: string): KeyedEvent {
  const at = json.lastIndexOf(BEFORE_QUANTITY);
  const event = JSON.parse(`${json.slice(0, at)}}`) as KeyedEvent;
  event.quantity = encodeQuantity(json.slice(at + BEFORE_QUANTITY.length, -1));
  if (typeof event.idempotency_key !== 'string') throw new SyntaxError('the event has no idempotency_key');
  return event;
}

function encodeQuantity(quantity: number | string): string {
  const literal = String(quantity);
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(literal)) {
    throw new RangeError(`quantity must be a finite number or a decimal literal, not ${JSON.stringify(literal)}`);
  }
  return literal;
}
