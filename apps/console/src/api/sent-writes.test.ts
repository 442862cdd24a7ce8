import { beforeEach, expect, test } from 'vitest';
import { buildSentWrites, type SentWrite, type SentWrites } from './sent-writes.ts';

/** What a browser keeps of a tab: its keys are the names of what is in it. */
class Kept {
  [name: string]: unknown;
  getItem(name: string): string | null {
    return typeof this[name] === 'string' ? this[name] : null;
  }
  setItem(name: string, value: string): void {
    this[name] = value;
  }
  removeItem(name: string): void {
    delete this[name];
  }
}

const CREDITS = 'https://weir.example/api/v1/customers/c1/credits';

let kept: Kept;
let writes: SentWrites;
const sent = (method: string, url: string, body = ''): SentWrite => {
  const write = writes.begin(method, url, body);
  if (write === undefined) throw new Error(`${method} ${url} has no key`);
  return write;
};

beforeEach(() => {
  kept = new Kept();
  writes = buildSentWrites(kept);
});

test('what is sent again before its outcome is known has its key again, and what was changed has another', () => {
  const first = sent('POST', CREDITS, '{"amount":"10.00"}');
  expect(first.key).toMatch(/^[0-9a-f]{32}$/);
  const again = sent('POST', CREDITS, '{"amount":"10.00"}');
  expect(again.key).toBe(first.key);
  const changed = sent('POST', CREDITS, '{"amount":"20.00"}');
  expect(changed.key).not.toBe(first.key);
  expect([first, again, changed].map(({ wasSentBefore }) => wasSentBefore)).toEqual([false, true, false]);
});

test('a press of which nothing was kept is none that may have been done, and has its key all the same', () => {
  const credit = () => sent('POST', CREDITS, '{"amount":"10.00"}');
  const refused = credit();
  writes.refuse(refused);
  const second = credit();
  expect([second.key, second.wasSentBefore]).toEqual([refused.key, false]);
  // Two at once: what became of the other is not known.
  const other = credit();
  expect(other.wasSentBefore).toBe(true);
  writes.refuse(other);
  expect(credit().wasSentBefore).toBe(true);
});

test('what a page before sent may have been carried out, also where this page is refused', () => {
  const before = sent('POST', CREDITS, '{"amount":"10.00"}');
  writes = buildSentWrites(kept);
  for (let press = 1; press <= 2; press += 1) {
    const again = sent('POST', CREDITS, '{"amount":"10.00"}');
    expect([again.key, again.wasSentBefore]).toEqual([before.key, true]);
    writes.refuse(again);
  }
});

test('the same thing once more after it was done, or refused, is another one', () => {
  for (const isDone of [true, false]) {
    const first = sent('POST', CREDITS, '{"amount":"10.00"}');
    writes.settle(first, isDone);
    expect(sent('POST', CREDITS, '{"amount":"10.00"}').key).not.toBe(first.key);
  }
});

test('what was done to a thing since makes what was not known before it another request', () => {
  const meter = 'https://weir.example/api/v1/meters/m1';
  const archived = sent('PATCH', meter, '{"status":"ARCHIVED"}');
  const credit = sent('POST', CREDITS, '{"amount":"10.00"}');
  writes.settle(sent('PATCH', meter, '{"status":"ACTIVE"}'), true);
  expect(sent('PATCH', meter, '{"status":"ARCHIVED"}').key).not.toBe(archived.key);
  expect(sent('POST', CREDITS, '{"amount":"10.00"}').key).toBe(credit.key);
});

test('what makes something keeps its key, whatever else was done to the same thing or list', () => {
  const customer = 'https://weir.example/api/v1/customers/c1';
  const subscriptions = 'https://weir.example/api/v1/subscriptions';
  const pay = 'https://weir.example/api/v1/invoices/i1/pay';
  const made: [method: string, url: string, body: string][] = [
    ['POST', CREDITS, '{"amount":"10.00"}'],
    ['POST', subscriptions, '{"customer_id":"c1"}'],
    ['POST', pay, '{"amount":"1.00"}'],
  ];
  const keys = made.map((each) => sent(...each).key);
  for (const [method, url, body] of [
    ['PATCH', customer, '{"email":"ada@example.com"}'],
    ['POST', CREDITS, '{"amount":"5.00"}'],
    ['POST', subscriptions, '{"customer_id":"c2"}'],
    ['POST', pay, '{"amount":"2.00"}'],
  ] as const) {
    writes.settle(sent(method, url, body), true);
  }
  expect(made.map((each) => sent(...each).key)).toEqual(keys);
  // A state that was left is set anew.
  const change = 'https://weir.example/api/v1/subscriptions/s1/change';
  const changed = sent('POST', change, '{"plan_id":"p1"}');
  writes.settle(sent('POST', change, '{"plan_id":null}'), true);
  expect(sent('POST', change, '{"plan_id":"p1"}').key).not.toBe(changed.key);
});

test('a key that version 1.0 kept is found after an upgrade, until its outcome is known', () => {
  kept.setItem('weir-sent-/api/v1/customers/c1 POST /api/v1/customers/c1/credits {"amount":"10.00"}', 'of-1.0');
  const again = sent('POST', CREDITS, '{"amount":"10.00"}');
  expect([again.key, sent('POST', CREDITS, '{"amount":"10.00"}').key]).toEqual(['of-1.0', 'of-1.0']);
  writes.settle(again, false);
  expect(sent('POST', CREDITS, '{"amount":"10.00"}').key).not.toBe('of-1.0');
});

test('nothing of a password is kept in the browser, and nothing at all after a sign-out', () => {
  const password = sent('POST', 'https://weir.example/api/v1/auth/password', '{"new_password":"correct horse"}');
  expect(Object.keys(kept).join()).not.toContain('correct horse');
  expect(sent('POST', 'https://weir.example/api/v1/auth/password', '{"new_password":"correct horse"}').key).toBe(
    password.key,
  );
  sent('POST', CREDITS, '{"amount":"10.00"}');
  writes.forget();
  expect(Object.keys(kept)).toEqual([]);
});

test('reads, sign-ins and what only computes have no key', () => {
  for (const [method, path] of [
    ['GET', 'plans'],
    ['POST', 'auth/login'],
    ['POST', 'auth/password-reset'],
    ['POST', 'charges/evaluate'],
  ] as const) {
    expect(writes.begin(method, `https://weir.example/api/v1/${path}`, '{}')).toBeUndefined();
  }
  expect(writes.begin('POST', 'https://weir.example/api/v1/users/u1/password-reset', '')).toBeDefined();
});
