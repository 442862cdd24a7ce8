import { expect, test } from 'vitest';
import { parseSentinelAddress } from './sentinel-address.ts';

test('the Sentinels, the name, passwords and the database are read', () => {
  expect(parseSentinelAddress('redis+sentinel://a:26380,b,[::1]:7/weir')).toEqual({
    sentinels: [
      { host: 'a', port: 26_380 },
      { host: 'b', port: 26_379 },
      { host: '::1', port: 7 },
    ],
    name: 'weir',
    isTls: false,
    db: 0,
  });
  expect(
    parseSentinelAddress('rediss+sentinel://us%40er:p%2Fw@a,b/weir/3?sentinel_user=s&sentinel_password=p%26w'),
  ).toMatchObject({
    isTls: true,
    db: 3,
    username: 'us@er',
    password: 'p/w',
    sentinelUsername: 's',
    sentinelPassword: 'p&w',
  });
  expect(parseSentinelAddress('redis+sentinel://:secret@a/weir')).toMatchObject({ password: 'secret' });
});

test.each([
  'redis://a:6379',
  'redis+sentinel://a,b',
  'redis+sentinel://a,,b/weir',
  'redis+sentinel://a:0/weir',
  'redis+sentinel://a:65536/weir',
  'redis+sentinel://a/weir/x',
  'redis+sentinel://a/weir?sentinelPassword=x',
  'redis+sentinel://:%@a/weir',
  'http+sentinel://a/weir',
])('%s is no such address', (text) => {
  expect(parseSentinelAddress(text)).toBeUndefined();
});
