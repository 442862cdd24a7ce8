// The suite of chaos itself, in short: what it proves at length is in docs/chaos.md.

import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runToEnd, type Ended } from '../support/run-to-end.ts';

interface Report {
  violations: number;
  checks: { name: string; examined: number; violations: number }[];
  figures: { requests: number; accepted: number; faults: { kind: string; count: number }[] };
}

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-test-chaos-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function runChaos(name: string, ...options: string[]): Promise<Ended & { report: Report }> {
  const json = join(folder, `${name}.json`);
  const args = ['--folder', join(folder, name), '--json', json, '--rate', '40', ...options];
  const ended = await runToEnd('chaos/dist/main.js', { WEIR_HOME: process.env['WEIR_HOME'] ?? '' }, args);
  const text = await readFile(json, 'utf8').catch(() => Promise.reject(new Error(`no report: ${ended.err}`)));
  return { ...ended, report: JSON.parse(text) as Report };
}

test('whatever fails under load, every event that was accepted is counted exactly once', async () => {
  // This seed's first fault of a process is the rolling restart, so that a slow machine comes to it as well.
  const { code, out, report } = await runChaos('whole', '--minutes', '0.4', '--seed', '1');
  expect(
    report.checks.filter(({ violations }) => violations > 0),
    out,
  ).toEqual([]);
  expect(report.figures.faults.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(3);
  expect(report.figures.requests).toBeGreaterThan(500);
  // Periods ended meanwhile, and something was there to be judged of each kind.
  expect(report.checks.filter(({ examined }) => examined === 0)).toEqual([]);
  expect(report.checks.find(({ name }) => name === 'billed lines')?.examined).toBeGreaterThan(100);
  expect(code).toBe(0);
}, 180_000);

test('a run that breaks off keeps its folder, which is all that tells why', async () => {
  const temporary = await mkdtemp(join(folder, 'temporary-'));
  // Programs cannot be kept in what is no folder.
  const env = { WEIR_HOME: join(import.meta.dirname, 'chaos.test.ts'), TMPDIR: temporary };
  const { code, err } = await runToEnd('chaos/dist/main.js', env, ['--minutes', '0.1']);
  expect(code).toBe(1);
  expect(err).toMatch(/ENOTDIR|EEXIST/);
  const [kept = ''] = await readdir(temporary);
  expect(err).toContain(`History, logs and data are in ${join(temporary, kept)}.`);
}, 60_000);

/** Those that are run each night alone, which takes half as long as all else here: broken-builds.test.ts holds that it is broken. */
const BY_NIGHT = process.env['CHAOS_BROKEN'] === 'all' ? ['claim-first'] : [];

test.each(BY_NIGHT)(
  'a build that writes claims before it stages events is found out: %s',
  async (broken) => {
    // Only the end of an API loses the second step, which is where this seed begins. Whether it falls between a claim and its event is a
    // matter of chance: with more requests it does so for certain.
    const load = ['--minutes', '0.12', '--seed', '7', '--rate', '160'];
    // Without peace in between it comes to enough of them within a few seconds.
    const options = [...load, '--faults', 'kill', '--pause', '0', '--broken', broken];
    const { code, report } = await runChaos('broken', ...options);
    const held = report.checks.find(({ name }) => name === 'held');
    expect(held?.violations).toBeGreaterThan(0);
    expect(code).toBe(1);
  },
  180_000,
);

test('beside hostile clients every event is counted; lost slots and a closing read too early are found', async () => {
  const options = ['--minutes', '0.15', '--seed', '43', '--hostile', '--faults', 'none'];
  const { code, out, report } = await runChaos('hostile', ...options, '--broken', 'leaking-slots', 'stale-closing');
  const bills = ['billed lines', 'billed', 'recompute'];
  // What a build without slots does to its readers, and a busy machine to everyone.
  const disturbed = ['memory', 'speed', 'readers', 'deadlines', 'statuses', 'processes'];
  const violated = report.checks.filter(({ violations }) => violations > 0).map(({ name }) => name);
  expect(
    violated.filter((name) => !['slots', ...bills, ...disturbed].includes(name)),
    out,
  ).toEqual([]);
  expect(report.checks.find(({ name }) => name === 'hostile events')?.examined).toBeGreaterThan(0);
  // One of each API.
  expect(report.checks.find(({ name }) => name === 'slots')?.violations, out).toBe(2);
  expect(violated, out).toEqual(expect.arrayContaining(bills));
  expect(code).toBe(1);
}, 300_000);
