// How the API serves the console: one page for all its addresses, files that are kept for ever, and a policy that lets
// nothing else in. A small build stands for the real one, which the journey in a browser looks at.

import { createLog } from '@weir/shared/log';
import { loadSettings } from '@weir/shared/settings';
import { serveApi, type RunningApi } from '@weir/api/serve';
import { apiSettings } from '@weir/api/settings';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownWeir } from '../support/use-weir.ts';

const PAGE = '<!doctype html><title>Weir</title><script type="module" src="/assets/index-1.js"></script>';
const SCRIPT = `console.log('${'weir '.repeat(500)}');`;
const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/** Else fetch would ask for what is new in any case. */
const FRESH = { 'cache-control': 'max-age=0' };

const weir = ownWeir({ withWorker: false });
let api: RunningApi;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-console-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), PAGE);
  await writeFile(join(folder, 'assets', 'index-1.js'), SCRIPT);
  await writeFile(join(folder, 'assets', 'index-1.js.br'), brotliCompressSync(SCRIPT));
  await writeFile(join(folder, 'assets', 'index-1.js.gz'), gzipSync(SCRIPT));
  api = await serveApi(loadSettings(apiSettings, weir.env), createLog('api', 'silent'), folder);
});
afterAll(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = HTML, method = 'GET'): Promise<Response> =>
  fetch(api.url.replace(/\/$/, '') + path, { method, headers });

test('every address of the console is its page, asked for anew each time', async () => {
  for (const path of ['/', '/usage?meter=x', '/customers/0199', '/invoices', '/sign-in', '/apiary', '/docsy']) {
    const answer = await get(path);
    expect([path, answer.status, await answer.text()]).toEqual([path, 200, PAGE]);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=0');
    const again = await get(path, { ...HTML, 'if-none-match': answer.headers.get('etag') ?? '', ...FRESH });
    expect(again.status).toBe(304);
  }
  expect((await get('/usage', HTML, 'HEAD')).status).toBe(200);
});

test('its policy lets nothing in but what was built, and nobody frame it', async () => {
  const policy = (await get('/')).headers.get('content-security-policy') ?? '';
  expect(policy).not.toMatch(/https?:|\*|unsafe|data:/);
  for (const directive of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
    expect(policy.split('; ')).toContain(directive);
});

test('what is not for a person who looks stays a problem document', async () => {
  const others: [string, Record<string, string>, string?][] = [
    ['/', { accept: '*/*' }],
    ['/usage', { accept: 'application/json' }],
    ['/api', HTML],
    ['/api/v1/nothing', HTML],
    ['/docs/nothing', HTML],
    ['/assets/nothing.js', HTML],
    ['/assets/../index.html', { accept: '*/*' }],
    ['/metrics/x', HTML],
    ['/usage', HTML, 'POST'],
  ];
  for (const [path, headers, method] of others) {
    const answer = await get(path, headers, method);
    expect([path, answer.status]).toEqual([path, 404]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  }
  // A path that only another method takes.
  expect((await get('/api/v1/auth/login')).status).toBe(405);
});

test('its files are kept for ever, and sent as they were compressed at the build', async () => {
  for (const coding of ['br', 'gzip', 'identity']) {
    const answer = await get('/assets/index-1.js', { 'accept-encoding': coding });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-encoding')).toBe(coding === 'identity' ? null : coding);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-type')).toMatch(/javascript/);
    expect(await answer.text()).toBe(SCRIPT);
  }
});

test('a Weir whose console was not built says that there is nothing, and is a Weir all the same', async () => {
  const bare = await serveApi(loadSettings(apiSettings, weir.env), createLog('api', 'silent'), join(folder, 'none'));
  try {
    const answer = await fetch(bare.url, { headers: HTML });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([404, 'not_found']);
  } finally {
    await bare.close();
  }
});
