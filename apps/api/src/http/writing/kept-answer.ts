// Keeps an answer for a repeat: all of it but secrets, and but lists where it is very large.

import type { KeptAnswer } from '@weir/db/request-keys';
import { LIMITS } from '@weir/shared/limits';

/** How a request that changed something is answered. */
export interface Answer<Body> {
  status: 200 | 201 | 202 | 204;
  body: Body;
  /** Members of the body that are shown once. */
  secrets?: readonly string[];
}

/** Of an answer that is too large, lists that have more bytes are left out. */
const LIST_BYTES_MAX = 4_096;

export function keptOf({ status, body, secrets = [] }: Answer<unknown>): KeptAnswer {
  if (body === null) return { status, answer: null, withheld: [] };
  const shown = { ...(body as object), ...Object.fromEntries(secrets.map((name) => [name, null])) };
  const text = JSON.stringify(shown);
  if (Buffer.byteLength(text) <= LIMITS.keptAnswerBytes) return { status, answer: text, withheld: [...secrets] };
  const withheld = [...secrets];
  const shorter = JSON.stringify(withoutLists(shown, '', withheld));
  return Buffer.byteLength(shorter) <= LIMITS.keptAnswerBytes
    ? { status, answer: shorter, withheld }
    : { status, answer: '{}', withheld: Object.keys(shown) };
}

/**
 * Keeps what was only computed, and changed nothing: all of it, or nothing but that there was such a request. A part would be taken for
 * what a change came to.
 */
export function keptOfComputed(answer: Answer<unknown>): KeptAnswer {
  const kept = keptOf(answer);
  return kept.withheld.length === 0 ? kept : { ...kept, answer: null };
}

/** Whether a repeat computes the answer anew. What was changed keeps at least `{}` of an answer that has a body. */
export function isToCompute({ answer, withheld }: KeptAnswer): boolean {
  return answer === null && withheld.length > 0;
}

/** The value with empty lists where there are long ones, whose names are added to `withheld`. */
function withoutLists(value: unknown, path: string, withheld: string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (JSON.stringify(value).length <= LIST_BYTES_MAX) return value;
    withheld.push(path);
    return [];
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      withoutLists(each, path === '' ? name : `${path}.${name}`, withheld),
    ]),
  );
}
