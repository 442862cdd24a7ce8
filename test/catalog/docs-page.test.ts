// The page that shows the interface: whatever is asked of it is answered, and it loads nothing from anywhere else.

import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWeir, type Weir } from '../support/harness.ts';

let weir: Weir;
beforeAll(async () => {
  weir = await startWeir({ withWorker: false });
});
afterAll(() => weir.close());

/** Asks for a path as it stands: fetch would take `..` out of it. */
async function ask(path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(weir.baseUrl);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, headers }, (response) => {
      let body = '';
      response.on('data', (chunk) => (body += String(chunk)));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.on('error', reject).end();
  });
}

const PATHS = [
  'x'.repeat(300),
  `${'x/'.repeat(2_000)}x`,
  ...`%2e%2e/x %2e%2e/%2e%2e/package.json ../x ..%2fx ..%5cx %5c..%5cx %2e/x ./x /x //x . .. .git
    %2fetc/passwd a/%2e%2e/swagger-ui.css a//b %00 swagger-ui.css%00 swagger-ui.css/ SWAGGER-UI.CSS %2e%2e %25 c:%5cx %0a
    %20 x?y %3f`.split(/\s+/),
];

test('a file that there is not is 404, whatever its name', async () => {
  for (const path of PATHS) {
    const { status, body } = await ask(`/docs/static/${path}`);
    expect([path, status, JSON.parse(body).code]).toEqual([path, 404, 'not_found']);
  }
  for (const path of ['%ff', '%c0%ae%c0%ae/x', '%']) expect((await ask(`/docs/static/${path}`)).status).toBe(400);
  for (const path of ['', 'swagger-ui%2ecss']) expect((await ask(`/docs/static/${path}`)).status).toBe(200);
});

test('a part of a file that it does not have, or a version, is refused and no failure of ours', async () => {
  for (const headers of [{ range: 'bytes=99999999-' }, { range: 'bytes=5-2' }, { 'if-match': '"x"' }]) {
    const { status, body } = await ask('/docs/static/index.css', headers);
    expect([headers, status, JSON.parse(body).code]).toEqual([headers, 400, 'malformed_request']);
  }
  expect((await ask('/docs/static/index.css', { range: 'bytes=0-3' })).status).toBe(206);
});

test('its policy allows nothing from anywhere else, and it asks for nothing from there', async () => {
  const { status, headers, body } = await weir.request('GET', '/docs');
  expect(status).toBe(200);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).not.toMatch(/https?:|\*|unsafe|\w\.\w|upgrade-insecure-requests/);
  for (const directive of ["default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "object-src 'none'"])
    expect(policy).toContain(`${directive};`);
  // What default-src lets in is all there is: files of its own, no script or style between the lines.
  expect(body).not.toMatch(/<style|<script>|style=|\son\w+=/);
  const loaded = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
  expect(loaded.length).toBeGreaterThan(5);
  for (const path of loaded) {
    expect(path).toMatch(/^\/docs\/static\//);
    const file = await ask(path);
    expect(file.status).toBe(200);
    expect(path.endsWith('.css') && /url\(["']?https?:|@import/.test(file.body)).toBe(false);
  }
});
