// The page /embed may stand in another site's frame, and is the only one that may; it holds nothing until it has a token,
// runs nothing but its own script, and talks to nobody but this Weir. What every other answer tells a browser stands here, too.

import { describe, expect, test } from 'vitest';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();

const embed = (baseUrl = weir.baseUrl) => weir.request('GET', '/embed', { baseUrl });

/** The directives of a Content-Security-Policy, by name. */
function policyOf(headers: Headers): Record<string, string> {
  const directives = (headers.get('content-security-policy') ?? '').split(';').map((each) => each.trim());
  return Object.fromEntries(
    directives.filter(Boolean).map((each) => [each.split(' ')[0], each.split(' ').slice(1).join(' ')]),
  );
}

describe('the page', () => {
  test('is HTML that is not kept and tells nobody its address', async () => {
    const { status, headers } = await embed();
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(headers.getSetCookie()).toEqual([]);
  });

  test('runs and shows its own files, and lets in nothing else', async () => {
    const { headers, body } = await embed();
    expect(policyOf(headers)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'object-src': "'none'",
      'frame-ancestors': '*',
    });
    // What stands in the page itself would be dropped by that policy, and an address would lead elsewhere.
    expect(body).not.toMatch(/<style|<script(?![^>]* src=)|\s(style|on\w+)=|<(img|iframe|form)\b|\w:\/\//);
    const files = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
    expect(files).toHaveLength(2);
    for (const file of files) {
      const answer = await fetch(new URL(file, weir.baseUrl));
      expect({ file, status: answer.status }).toEqual({ file, status: 200 });
      expect(await answer.text()).not.toMatch(/@import|url\(/);
    }
  });

  test('may be framed by the pages that the operator names, and by no others', async () => {
    const EMBED_ANCESTORS = 'https://app.example.com https://*.example.org';
    const api = await weir.startApi({ EMBED_ANCESTORS });
    expect(policyOf((await embed(api.url)).headers)['frame-ancestors']).toBe(EMBED_ANCESTORS);
    await api.close();
  });

  test.each(["'none'", 'none'])('may be framed by nobody where the operator says %s', async (EMBED_ANCESTORS) => {
    const api = await weir.startApi({ EMBED_ANCESTORS });
    expect(policyOf((await embed(api.url)).headers)['frame-ancestors']).toBe("'none'");
    await api.close();
  });

  test.each(['app.example.com', "https://a.example; script-src 'unsafe-inline'", 'https://a.example, *', 'self'])(
    'is not served where they are named in a way that browsers would not understand: %s',
    async (EMBED_ANCESTORS) => {
      await expect(weir.startApi({ EMBED_ANCESTORS })).rejects.toThrow(/^Cannot start: EMBED_ANCESTORS: must be/);
    },
  );
});

describe('every other answer', () => {
  test.each([
    ['GET', '/healthz'],
    ['GET', '/metrics'],
    ['GET', '/openapi.json'],
    ['GET', '/api/v1/plans'],
    ['POST', '/api/v1/sdk/track'],
    ['GET', '/api/v1/nothing'],
    ['GET', '/%zz'],
    ['DELETE', '/embed'],
  ])('%s %s is data that no page may frame, run or keep', async (method, path) => {
    const { headers } = await weir.request(method, path);
    expect(policyOf(headers)).toEqual({
      'default-src': "'none'",
      'base-uri': "'none'",
      'object-src': "'none'",
      'frame-ancestors': "'none'",
    });
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('strict-transport-security')).toBeNull();
  });

  test('tells browsers to keep to https where the public address is https', async () => {
    const api = await weir.startApi({ PUBLIC_URL: 'https://billing.example.com' });
    const { headers } = await weir.request('GET', '/api/v1/plans', { baseUrl: api.url });
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
    await api.close();
  });
});
