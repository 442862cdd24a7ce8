import { describe, expect, test } from 'vitest';
import {
  hashSecret,
  isApiKey,
  isServiceToken,
  isWidgetToken,
  newApiKey,
  newServiceToken,
  newSessionToken,
  newWidgetToken,
} from './secrets.ts';

describe('an API key', () => {
  test('is org_live_, 27 random characters of base62 and 6 of checksum', () => {
    expect(newApiKey()).toMatch(/^org_live_[0-9A-Za-z]{33}$/);
  });

  test('is a new one every time, and always passes its own checksum', () => {
    const keys = Array.from({ length: 1000 }, newApiKey);
    expect(new Set(keys).size).toBe(1000);
    expect(keys.filter((key) => !isApiKey(key))).toEqual([]);
  });

  test('with any one character mistyped is told from a real one', () => {
    const key = newApiKey();
    for (let at = 0; at < key.length; at += 1) {
      const other = key[at] === 'x' ? 'y' : 'x';
      expect(isApiKey(key.slice(0, at) + other + key.slice(at + 1)), `character ${at}`).toBe(false);
    }
  });

  test('keeps the checksum it was published with: CRC-32 of all before it, in base62', () => {
    expect(isApiKey('org_live_00000000000000000000000000007N8JM')).toBe(true);
  });

  test('that is cut off, longer, empty or of another kind is none', () => {
    const key = newApiKey();
    for (const text of [
      key.slice(0, -1),
      `${key}0`,
      ` ${key}`,
      `${key}\n`,
      '',
      'org_live_',
      key.replace('live', 'test'),
    ]) {
      expect(isApiKey(text), JSON.stringify(text)).toBe(false);
    }
  });
});

test('a token of a service account is org_svc_, 43 random characters of base62 and 6 of checksum', () => {
  const token = newServiceToken();
  expect(token).toMatch(/^org_svc_[0-9A-Za-z]{49}$/);
  expect(newServiceToken()).not.toBe(token);
  expect(isServiceToken(token)).toBe(true);
  const mistyped = token.slice(0, 20) + (token[20] === 'x' ? 'y' : 'x') + token.slice(21);
  for (const text of [mistyped, token.slice(0, -1), `${token}0`, newApiKey(), ''])
    expect(isServiceToken(text), text).toBe(false);
});

test('a session token has 256 bits, in characters that a cookie may hold', () => {
  expect(newSessionToken()).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(newSessionToken()).not.toBe(newSessionToken());
});

test('a secret is stored as its SHA-256', () => {
  expect(hashSecret('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('a widget token is 256 random bits behind a prefix, and what has another form is none', () => {
  const token = newWidgetToken();
  expect(token).toMatch(/^wgt_[\w-]{43}$/);
  expect(newWidgetToken()).not.toBe(token);
  expect(isWidgetToken(token)).toBe(true);
  for (const text of ['', 'wgt_', token.slice(0, -1), `${token}x`, token.slice(4), ` ${token}`, `${token}\n`])
    expect(isWidgetToken(text), text).toBe(false);
});
