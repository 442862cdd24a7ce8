// The page that shows the interface: whatever is asked of it is answered, and it loads nothing from anywhere else.

import { request as httpRequest } from 'node:http';
import { expect, test } from 'vitest';
import { openBrowser } from '../support/browser/browser.ts';
import { signUp } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();

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
    %2fetc/passwd a/%2e%2e/docs.css a//b %00 docs.css%00 docs.css/ DOCS.CSS constructor __proto__ reference.html %2e%2e %25 c:%5cx %0a
    %20 x?y %3f`.split(/\s+/),
];

test('a file that there is not is 404, whatever its name', async () => {
  for (const path of PATHS) {
    const { status, body } = await ask(`/docs/assets/${path}`);
    expect([path, status, JSON.parse(body).code]).toEqual([path, 404, 'not_found']);
  }
  for (const path of ['%ff', '%c0%ae%c0%ae/x', '%']) expect((await ask(`/docs/assets/${path}`)).status).toBe(400);
  expect((await ask('/docs/assets/docs%2ecss')).status).toBe(200);
});

test('its policy allows nothing from anywhere else, and it asks for nothing from there', async () => {
  const { status, headers, body } = await weir.request('GET', '/docs');
  expect(status).toBe(200);
  const policy = headers.get('content-security-policy') ?? '';
  // Styles are the one thing that Scalar writes into the page; no script but its own files, and no request but to this address.
  expect(policy.replace("style-src 'self' 'unsafe-inline'", '')).not.toMatch(/https?:|\*|unsafe|\w\.\w/);
  for (const directive of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
    expect(policy.split('; ')).toContain(directive);
  expect(body).not.toMatch(/<style|<script>|style=|\son\w+=/);
  const loaded = [...body.matchAll(/(?:src|href)="([^"]+\.\w+)"/g)].map(([, path = '']) => path);
  expect(loaded.length).toBeGreaterThan(5);
  for (const path of loaded) {
    if (path === '/openapi.json') continue;
    expect(path).toMatch(/^\/docs\/assets\//);
    const file = await ask(path);
    expect([path, file.status]).toEqual([path, 200]);
    expect(path.endsWith('.css') && /url\(["']?https?:|@import/.test(file.body)).toBe(false);
  }
});

test('in a browser, whoever is signed in sends requests from it as they stand, and nobody else hears of it', async () => {
  const organization = await signUp(weir);
  const browser = await openBrowser([new URL(weir.baseUrl).origin]);
  try {
    const visit = await browser.visit({ viewport: { width: 1280, height: 900 } });
    const cookie = { name: 'access_token', value: organization.session, url: weir.baseUrl };
    await visit.context.addCookies([cookie]);
    await visit.page.goto(`${weir.baseUrl}/docs`);
    await visit.page.getByRole('heading', { name: 'Weir', exact: true }).waitFor();
    expect(await visit.page.evaluate<string>('document.title')).toContain('Weir');
    if (process.env['SHOTS'] !== undefined) await visit.page.screenshot({ path: `${process.env['SHOTS']}/docs.png` });
    await visit.page.goto(`${weir.baseUrl}/docs#tag/access/GET/api/v1/auth/me`);
    await visit.page.reload();
    await visit.page
      .getByRole('button', { name: /Test Request.*auth\/me/ })
      .first()
      .click();
    const answered = visit.page.waitForResponse((response) => response.url().endsWith('/api/v1/auth/me'));
    await visit.page.getByRole('button', { name: /^Send/ }).first().click();
    const answer = await answered;
    expect([answer.status(), new URL(answer.url()).origin]).toEqual([200, new URL(weir.baseUrl).origin]);
    expect(((await answer.json()) as { organization: { id: string } }).organization.id).toBe(organization.id);
    if (process.env['SHOTS'] !== undefined)
      await visit.page.screenshot({ path: `${process.env['SHOTS']}/docs-sent.png` });
    expect(visit.faults).toEqual([]);
  } finally {
    await browser.close();
  }
}, 60_000);
