import { expect, test } from 'vitest';
import { mayActInSession } from './same-origin.ts';

const host = 'billing.example.com';
const own = 'https://billing.example.com';

test.each([
  ['a client that says nothing of its origin, such as curl', {}, true],
  ['a page of ours', { 'sec-fetch-site': 'same-origin', origin: own }, true],
  ['an address that a person typed', { 'sec-fetch-site': 'none' }, true],
  ['a page of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, false],
  [
    'a page of a neighbour under the same domain',
    { 'sec-fetch-site': 'same-site', origin: 'https://x.example.com' },
    false,
  ],
  ['another site that calls its origin ours', { 'sec-fetch-site': 'cross-site', origin: own }, false],
  ['a browser that sends only our origin', { origin: own }, true],
  ['a browser that sends only another origin', { origin: 'https://evil.example' }, false],
  ['the same host on another port', { origin: 'https://billing.example.com:8443' }, false],
  ['a host that begins with ours', { origin: 'https://billing.example.com.evil.example' }, false],
  ['a sandboxed page', { origin: 'null' }, false],
  ['an origin that is no address', { origin: '' }, false],
])('%s', (_, headers, allowed) => {
  expect(mayActInSession('POST', { host, ...headers }, undefined)).toBe(allowed);
  expect(mayActInSession('DELETE', { host, ...headers }, undefined)).toBe(allowed);
});

test('reading is allowed from anywhere, since another site does not get to see the answer', () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    expect(mayActInSession(method, { host, 'sec-fetch-site': 'cross-site' }, undefined)).toBe(true);
  }
});

test('behind a proxy that does not pass the host on, the public address is our own origin too', () => {
  const headers = { host: '10.0.0.7:3000', origin: own };
  expect(mayActInSession('POST', headers, `${own}/weir/`)).toBe(true);
  expect(mayActInSession('POST', headers, 'https://other.example.com')).toBe(false);
  expect(mayActInSession('POST', headers, undefined)).toBe(false);
});
