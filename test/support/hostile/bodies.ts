// Bodies that no endpoint takes, whatever its fields. Each is made of a good body, so that nothing else is wrong with it.

import type { Operation } from '../openapi-document.ts';

export interface HostileBody {
  title: string;
  spoil: (good: string, operation: Operation) => string | Uint8Array;
  status: number;
  code: string;
  /** A body that an endpoint may also do without is no mistake where it is empty. */
  isEmpty?: true;
}

const bytesOf = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const opened = (good: string) => `${good.slice(0, -1)}${good === '{}' ? '' : ','}`;

const malformed: [title: string, spoil: HostileBody['spoil']][] = [
  ['is only white space', () => ' \n'],
  ['is cut off', (good) => good.slice(0, -1)],
  ['is cut off within a text', (good) => `${opened(good)}"x`],
  ['is cut off within an escape', (good) => `${opened(good)}"x":"\\ud8`],
  ['is cut off within a number', (good) => `${opened(good)}"x":1e`],
  ['goes on after its end', (good) => `${good}}`],
  ['is two documents', (good) => good + good],
  ['is two documents in lines', (good) => `${good}\n${good}`],
  ['has a comma before its end', (good) => `${opened(good)}"x":1,}`],
  ['holds a comment', (good) => `${good.slice(0, -1)}/* x */}`],
  ['has keys without quotes', (good) => `${opened(good)}x:1}`],
  ['is in single quotes', (good) => `${opened(good)}'x':1}`],
  ['holds NaN', (good) => `${opened(good)}"x":NaN}`],
  ['holds Infinity', (good) => `${opened(good)}"x":-Infinity}`],
  ['holds undefined', (good) => `${opened(good)}"x":undefined}`],
  ['holds a number with a leading zero', (good) => `${opened(good)}"x":01}`],
  ['holds a number with a plus sign', (good) => `${opened(good)}"x":+1}`],
  ['holds a number that begins with its point', (good) => `${opened(good)}"x":.5}`],
  ['holds a hexadecimal number', (good) => `${opened(good)}"x":0x10}`],
  ['holds a number with a separator', (good) => `${opened(good)}"x":1_000}`],
  ['holds an unknown escape', (good) => `${opened(good)}"x":"\\x41"}`],
  ['holds a raw NUL byte', (good) => `${opened(good)}"\0":1}`],
  ['holds a raw line break in a text', (good) => `${opened(good)}"x\n":1}`],
  ['begins with a byte order mark', (good) => `\ufeff${good}`],
  ['begins with a no-break space', (good) => `\u00a0${good}`],
  ['is in UTF-16', (good) => Buffer.from(good, 'utf16le')],
  ['holds a byte that is not UTF-8', (good) => bytesOf(opened(good), '"', [0xff], '":1}')],
  ['is cut off within a character', (good) => bytesOf(good.slice(0, -1), [0xf0, 0x9f])],
  ['holds an overlong encoding', (good) => bytesOf([0xc0, 0xbb], good)],
  ['holds half of a surrogate pair in UTF-8', (good) => bytesOf(opened(good), '"', [0xed, 0xa0, 0xbd], '":1}')],
  ['holds a character past the last one', (good) => bytesOf(opened(good), '"', [0xf4, 0x90, 0x80, 0x80], '":1}')],
  ['has a member __proto__', (good) => `${opened(good)}"__proto__":{"name":"x"}}`],
  ['has a member __proto__ in another spelling', (good) => `${opened(good)}"\\u005f_proto__":{"name":"x"}}`],
  ['has a member __proto__ far within', (good) => `${opened(good)}"x":[{"y":{"__proto__":1}}]}`],
  ['has a key twice', (good) => `${opened(good)}"x":1,"x":2}`],
  ['has a key twice far within', (good) => `${opened(good)}"x":[{"y":{"a":1,"a":2}}]}`],
  ['has a key twice in two spellings', (good) => `${opened(good)}"x":1,"\\u0078":2}`],
  ['is nested 100,000 levels deep and cut off', () => '['.repeat(100_000)],
  ['is nested 100,000 levels deep in objects and cut off', () => '{"a":'.repeat(100_000)],
  ['is a form', () => 'name=x&quantity=1'],
  ['is XML', () => '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><x>&y;</x>'],
  ['is compressed without saying so', () => bytesOf([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])],
];

const invalid: [title: string, spoil: HostileBody['spoil']][] = [
  ['is an array', (good) => `[${good}]`],
  ['is an empty array', () => '[]'],
  ['is a text', () => '"text"'],
  ['is its own text', (good) => JSON.stringify(good)],
  ['is a number', () => '1'],
  ['is a number that overflows', () => '1e400'],
  ['is true', () => 'true'],
  ['has a field that does not exist', (good) => `${opened(good)}"nmae":1}`],
  ['has a field without a name', (good) => `${opened(good)}"":1}`],
  ['has the field constructor', (good) => `${opened(good)}"constructor":{"prototype":{"name":"x"}}}`],
  ['has the field toString', (good) => `${opened(good)}"toString":1}`],
  ['has a NUL character in a name', (good) => `${opened(good)}"\\u0000":1}`],
  ['has half of a surrogate pair in a name', (good) => `${opened(good)}"\\udc00\\ud83d":1}`],
  ['has a name of 100,000 characters', (good) => `${opened(good)}"${'x'.repeat(100_000)}":1}`],
  ['holds 100,000 levels', (good) => `${opened(good)}"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ['has 10,000 fields', (good) => `${opened(good)}${Array.from({ length: 10_000 }, (_, i) => `"f${i}":1`).join()}}`],
  ['says who owns it', (good) => `${opened(good)}"organization_id":"00000000-0000-0000-0000-000000000000"}`],
];

export const hostileBodies: HostileBody[] = [
  { title: 'is empty', spoil: () => '', status: 400, code: 'malformed_json', isEmpty: true },
  { title: 'is null', spoil: () => 'null', status: 422, code: 'invalid_request', isEmpty: true },
  ...malformed.map(([title, spoil]) => ({ title, spoil, status: 400, code: 'malformed_json' })),
  ...invalid.map(([title, spoil]) => ({ title, spoil, status: 422, code: 'invalid_request' })),
  {
    title: 'is larger than it may be',
    spoil: (good, { path }) => good.padEnd(path === '/api/v1/sdk/track/batch' ? 10_485_761 : 1_048_577),
    status: 413,
    code: 'payload_too_large',
  },
];

/** What the headers say of a body, where it is not JSON in UTF-8 as it is. */
export const hostileTypes: Record<string, string>[] = [
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': 'multipart/form-data; boundary=x' },
  { 'content-type': 'application/xml' },
  { 'content-type': 'application/jsonp' },
  { 'content-type': 'application/problem+json' },
  { 'content-type': 'application/merge-patch+json' },
  { 'content-type': 'application/json, text/plain' },
  { 'content-type': 'json' },
  { 'content-type': '*/*' },
  { 'content-type': ';' },
  { 'content-type': 'application/json; charset=iso-8859-1' },
  { 'content-type': 'application/json; charset="UTF-16"' },
  { 'content-type': 'application/json; charset=utf-7' },
  { 'content-encoding': 'gzip, gzip' },
  { 'content-encoding': 'br' },
  { 'content-encoding': 'deflate' },
  { 'content-encoding': 'gzip, identity' },
  { 'content-encoding': 'x' },
];
