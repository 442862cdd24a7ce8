import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  SettingsError,
  address,
  explainListening,
  host,
  loadSettings,
  logLevel,
  port,
  proxies,
  publicUrl,
  redisUrl,
  smtpUrl,
  wholeNumber,
} from './settings.ts';

const schema = z.object({
  DATABASE_URL: address('postgres://user:password@host:5432/weir', 'postgres', 'postgresql'),
  REDIS_URL: redisUrl,
  PORT: port.default(3000),
  HOST: host.default('127.0.0.1'),
  LOG_LEVEL: logLevel.default('info'),
  LIMIT: wholeNumber(1, 10).default(5),
  TRUST_PROXY: proxies.optional(),
  PUBLIC_URL: publicUrl.optional(),
  SMTP_URL: smtpUrl.optional(),
});
const good = { DATABASE_URL: 'postgres://u:p@db:5432/weir', REDIS_URL: 'redis://:p@cache:6379/0' };

function load(env: Record<string, string | undefined>): unknown {
  try {
    return loadSettings(schema, { ...good, ...env });
  } catch (error) {
    return error;
  }
}

test('what is not set takes its default, and other variables of the environment are left alone', () => {
  expect(load({ PATH: '/bin' })).toEqual({
    ...good,
    PORT: 3000,
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    LIMIT: 5,
  });
});

test.each(['127.0.0.1', '10.0.0.0/8, fd00::/8,::1', '10.0.0.0/255.0.0.0', '::ffff:10.0.0.1/128'])(
  'TRUST_PROXY may be %s',
  (TRUST_PROXY) => {
    expect(load({ TRUST_PROXY })).toMatchObject({ TRUST_PROXY });
  },
);

test.each([
  ['HTTPS://Billing.Example.com', 'https://billing.example.com'],
  ['https://billing.example.com/', 'https://billing.example.com'],
  ['http://localhost:3000', 'http://localhost:3000'],
])('PUBLIC_URL may be %s, which is the origin %s', (PUBLIC_URL, origin) => {
  expect(load({ PUBLIC_URL })).toMatchObject({ PUBLIC_URL: origin });
});

test.each(['smtp://u:50%off@mail:587', 'smtps://u:p%cd@mail'])(
  'SMTP_URL may be %j, which is taken as it is',
  (SMTP_URL) => {
    expect(load({ SMTP_URL })).toMatchObject({ SMTP_URL });
  },
);

test('an empty value counts as not set', () => {
  expect(load({ PORT: '', LIMIT: '' })).toMatchObject({ PORT: 3000, LIMIT: 5 });
});

describe('a bad setting is named in one line that says what to do', () => {
  test.each([
    [{ DATABASE_URL: undefined }, 'DATABASE_URL is not set: must be an address such as postgres://'],
    [{ DATABASE_URL: '' }, 'DATABASE_URL is not set: must be an address such as postgres://'],
    [{ DATABASE_URL: 'mysql://u@db/weir' }, 'DATABASE_URL: must be an address such as postgres://'],
    [{ DATABASE_URL: 'db:5432' }, 'DATABASE_URL: must be an address such as postgres://'],
    [{ REDIS_URL: 'http://cache' }, 'REDIS_URL: must be an address such as redis://'],
    [{ REDIS_URL: 'redis://:p%cd@cache' }, 'REDIS_URL: has a % that stands for no character: write it %25'],
    ...['billing.example.com', 'ftp://b.example.com', 'https://'].map(
      (PUBLIC_URL): [Record<string, string>, string] => [
        { PUBLIC_URL },
        'PUBLIC_URL: must be the address people use, such as https://billing.example.com.',
      ],
    ),
    ...[
      'https://b.example.com/weir',
      'https://b.example.com?x',
      'https://b.example.com/#x',
      'https://u:p@b.example.com',
    ].map((PUBLIC_URL): [Record<string, string>, string] => [
      { PUBLIC_URL },
      'PUBLIC_URL: must be the address people use, such as https://billing.example.com, with nothing behind the host',
    ]),
    [{ PORT: '65536' }, 'PORT: must be a whole number from 0 to 65535'],
    [{ PORT: '-1' }, 'PORT: must be a whole number from 0 to 65535'],
    [{ PORT: '80.5' }, 'PORT: must be a whole number from 0 to 65535'],
    [{ PORT: '0x50' }, 'PORT: must be a whole number from 0 to 65535'],
    [{ PORT: '3000 ' }, 'PORT: must be a whole number from 0 to 65535'],
    [{ HOST: 'a host' }, 'HOST: must be a host name or an address'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent'],
    [{ LIMIT: '0' }, 'LIMIT: must be a whole number from 1 to 10'],
    [{ LIMIT: '11' }, 'LIMIT: must be a whole number from 1 to 10'],
    ...[
      '0.0.0.0/0',
      '10.0.0.0/8 127.0.0.1',
      '10.0.0.0/8,',
      '10.0.0.300',
      '10.0.0.0/33',
      '10.0.0.0/255.0.255.0',
      '::1/129',
    ].map((TRUST_PROXY): [Record<string, string>, string] => [
      { TRUST_PROXY },
      'TRUST_PROXY: must be the addresses or networks of your proxies',
    ]),
  ])('%j', (env, line) => {
    const error = load(env);
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as Error).message).toContain(line);
    expect((error as Error).message).not.toContain('\n');
  });

  test('and so are several at once', () => {
    expect((load({ PORT: 'x', LIMIT: 'y' }) as Error).message).toBe(
      'Cannot start: PORT: must be a whole number from 0 to 65535; LIMIT: must be a whole number from 1 to 10. See docs/configuration.md.',
    );
  });

  test('which never shows the secrets that are in an address', () => {
    expect((load({ DATABASE_URL: 'mysql://root:hunter2@db/weir' }) as Error).message).not.toContain('hunter2');
  });
});

describe('a setting may be kept in a file, such as a mounted secret', () => {
  let folder = '';
  const file = (text: string): string => {
    const path = join(folder, 'secret');
    writeFileSync(path, text);
    return path;
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-settings-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('which NAME_FILE names; the line break at its end is no part of it', () => {
    const path = file('postgres://u:hunter2@db:5432/weir\n');
    expect(load({ DATABASE_URL: '', DATABASE_URL_FILE: path })).toMatchObject({
      DATABASE_URL: 'postgres://u:hunter2@db:5432/weir',
    });
  });

  test('and what is wrong with it is said without its content', () => {
    const told = (env: Record<string, string>) => (load({ DATABASE_URL: '', ...env }) as Error).message;
    expect(told({ DATABASE_URL_FILE: file('mysql://root:hunter2@db') })).toBe(
      'Cannot start: DATABASE_URL: must be an address such as postgres://user:password@host:5432/weir. See docs/configuration.md.',
    );
    const empty = file(' \n');
    expect(told({ DATABASE_URL_FILE: empty })).toBe(
      `Cannot start: DATABASE_URL_FILE: ${empty} is empty. See docs/configuration.md.`,
    );
    expect(told({ DATABASE_URL_FILE: join(folder, 'none') })).toMatch(
      /^Cannot start: DATABASE_URL_FILE: ENOENT: [^\n;]+none'\. See docs/,
    );
    expect((load({ DATABASE_URL_FILE: file('postgres://u:hunter2@db/weir') }) as Error).message).toBe(
      'Cannot start: DATABASE_URL and DATABASE_URL_FILE are both set: leave one of them out. See docs/configuration.md.',
    );
  });

  test('but no other variable that ends in _FILE is read', () => {
    expect(load({ SOMETHING_FILE: '/nowhere' })).toMatchObject(good);
  });
});

describe('an address that cannot be listened on is told in one line, with the setting to change', () => {
  const place = { setting: 'WORKER_PORT', port: 80, host: 'here' };
  const told = (code: string) =>
    explainListening(Promise.reject(Object.assign(new Error('listen'), { code })), place).catch(
      (error: unknown) => error,
    );

  test.each([
    ['EADDRINUSE', 'Cannot start: port 80 of here is taken: stop what listens there, or set WORKER_PORT.'],
    ['EACCES', 'Cannot start: this user may not listen on port 80 of here: set WORKER_PORT to one above 1023.'],
    [
      'EADDRNOTAVAIL',
      'Cannot start: here is no address of this machine: set HOST to one that is, or to 0.0.0.0 for all of them.',
    ],
    ['EAFNOSUPPORT', 'Cannot start: this machine has no IPv6, of which here is: set HOST to an address of IPv4.'],
    [
      'EAI_AGAIN',
      'Cannot start: no address is known for the name here: correct HOST, or set it to an address of this machine.',
    ],
  ])('%s', async (code, line) => {
    expect(await told(code)).toEqual(new SettingsError(line));
  });

  test('and anything else is thrown as it is', async () => {
    expect(await told('EMFILE')).not.toBeInstanceOf(SettingsError);
  });
});
