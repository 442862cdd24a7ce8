import { expect, test } from 'vitest';
import { WeirClient } from './client.ts';

// What a program without types passes on from its environment.
const open = (options: Record<string, unknown>) => () =>
  new WeirClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'org_live_x', ...options });

test.each([
  [undefined, 'undefined'],
  ['', "''"],
  ['foo', "'foo'"],
  ['usage.example.com:3000', "'usage.example.com:3000'"],
])('the address %s is refused with what it should be', (baseUrl, told) => {
  const message = `baseUrl must be the address of Weir, such as https://usage.example.com, not ${told}`;
  expect(open({ baseUrl })).toThrow(new TypeError(message));
});

test.each([
  'https://ada:secret@usage.example.com',
  'https://ada@usage.example.com',
  'https://usage.example.com/?a=b#c',
])('the address %s is refused, and what is secret in it not told', (baseUrl) => {
  expect(open({ baseUrl })).toThrow(/^baseUrl must be the address of Weir, .*, without [a-z, ]+$/);
});

test.each([undefined, ''])('without an API key (%o) there is no client', (apiKey) => {
  const message = 'apiKey must be an API key of your organization, such as org_live_…: there is none';
  expect(open({ apiKey })).toThrow(new TypeError(message));
});
