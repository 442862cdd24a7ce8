// The guides: every command in them is run as it stands, in the order in which a reader pastes it, and answers what they say.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, startWeir, type Weir } from '../support/harness.ts';

const shell = promisify(execFile);

const FIRST = 'first-event';
const CHAIN = [FIRST, 'unique-users', 'late-events', 'corrections', 'pricing-and-invoices', 'embedding'];
const NAMES = [...CHAIN, 'running-it'];

/** What is not run here: it starts Weir, which each test has done in its own way. */
const STARTS = [
  'npm start',
  'cp .env.example .env && chmod 600 .env',
  'docker compose up -d --build',
  'docker compose ps',
];

/** In which field of the last answers a variable is found that the reader copies from one; by default its `id`. */
const FIELDS: Record<string, string> = {
  METER: 'meter_token',
  METER_ID: 'meter_id',
  USERS: 'meter_token',
  USERS_ID: 'meter_id',
  KEY: 'key',
  TOKEN: 'token',
};

let weir: Weir;
let folder: string;

beforeAll(async () => {
  weir = await startWeir();
  folder = await mkdtemp(join(tmpdir(), 'weir-guides-'));
});
afterAll(async () => {
  await weir.close();
  await rm(folder, { recursive: true });
});

const textOf = (name: string) => readFile(new URL(`../../docs/guides/${name}.md`, import.meta.url), 'utf8');

/** The blocks of code of a guide. */
async function blocksOf(name: string): Promise<{ language: string; code: string }[]> {
  const blocks = (await textOf(name)).matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...blocks].map(([, language = '', code = '']) => ({ language, code: code.trim() }));
}

/** Reads a guide as a person does; `env` is the shell, which the next guide goes on in. Returns how many commands it has run. */
async function follow(name: string, env: Record<string, string>): Promise<number> {
  let ran = 0;
  let answer: Record<string, unknown> = {};
  for (const { language, code } of await blocksOf(name)) {
    if (language === 'json') expect(answer, `${name}: ${code}`).toMatchObject(JSON.parse(code) as object);
    if (language !== 'sh' || STARTS.includes(code)) continue;
    if (code.startsWith('export ')) {
      for (const [, variable = '', value] of code.matchAll(/(\w+)=(\S+)/g)) {
        const copied = answer[FIELDS[variable] ?? 'id'];
        if (variable in env) continue;
        expect([name, variable, value, typeof copied]).toEqual([name, variable, '…', 'string']);
        env[variable] = String(copied);
      }
      continue;
    }
    expect(code, name).toMatch(/^curl -sS /);
    const { stdout } = await shell('sh', ['-c', code], { cwd: folder, env: { PATH: process.env['PATH'], ...env } });
    answer = JSON.parse(stdout) as Record<string, unknown>;
    // A problem document has a title; a batch tells of each of its events.
    expect(answer, `${name}: ${code}`).not.toHaveProperty('title');
    await weir.drained();
    ran += 1;
  }
  return ran;
}

test('the guides for those who integrate are true from the first command to the last, in one shell', async () => {
  const { email, password } = await signUp(weir);
  const env = { WEIR: weir.baseUrl, EMAIL: email, PASSWORD: password };
  const ran = [];
  for (const name of CHAIN) ran.push(await follow(name, env));
  expect(ran).toEqual([5, 3, 3, 6, 8, 5]);
});

test('the guide for those who run it is true from the first admin to the first event', async () => {
  expect(await follow('running-it', { WEIR: weir.baseUrl })).toBe(5);
});

test('each guide is a page, in the look of the reference, which runs nothing and leads to the others', async () => {
  const overview = await weir.request('GET', '/docs/guides');
  for (const name of NAMES) {
    expect(overview.body).toContain(`href="/docs/guides/${name}"`);
    const { status, headers, body } = await weir.request('GET', `/docs/guides/${name}`);
    expect([name, status, headers.get('content-type')]).toEqual([name, 200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('content-security-policy')).not.toMatch(/script-src|unsafe|https?:/);
    expect(body).not.toMatch(/<script|<style|style=|\son\w+=/);
    expect(body).toMatch(/<h1>.+<\/h1>/);
    for (const [, link = ''] of String(body).matchAll(/href="(\/docs[^"#]*)/g))
      expect([link, (await weir.request('GET', link)).status]).toEqual([link, 200]);
  }
  for (const name of ['nothing', 'constructor', '..%2fbilling', 'first-event.md'])
    expect((await weir.request('GET', `/docs/guides/${name}`)).status).toBe(404);
});
