import { expect, test } from 'vitest';
import { browserOf } from './user-agents.ts';

const MOZILLA = 'Mozilla/5.0';

test('a browser and its system are told by their names, and what is no browser by its own words', () => {
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
  expect(browserOf(`${MOZILLA} (X11; Linux x86_64) ${chrome}`)).toBe('Chrome on Linux');
  expect(browserOf(`${MOZILLA} (Windows NT 10.0; Win64; x64) ${chrome} Edg/156.0`)).toBe('Edge on Windows');
  expect(browserOf(`${MOZILLA} (Linux; Android 16) ${chrome}`)).toBe('Chrome on Android');
  expect(browserOf(`${MOZILLA} (Macintosh; Intel Mac OS X 15.0; rv:140.0) Gecko/20100101 Firefox/140.0`)).toBe(
    'Firefox on macOS',
  );
  expect(browserOf('curl/8.5.0')).toBe('curl');
  expect(browserOf('python-requests/2.32 more')).toBe('python-requests/2.32');
  expect(browserOf(null)).toBe('unknown');
});
