import { expect, test } from 'vitest';
import { answersAreExpected, answersAreWellFormed, requestsAreSettled } from './answers.ts';
import { organizationsAreApart } from './isolation.ts';
import { processesAreSound, problemInLog } from './logs.ts';
import { MadeUpRun, eventOf, idOf, type Exchange } from './made-up-run.ts';
import { queueIsDrained } from './drained-queue.ts';

const event = eventOf('a');

test('an answer that may be passes; an internal error, and a 201 for what must be refused, are found', () => {
  const fine = new MadeUpRun().accept(event, idOf(1)).exchange([event], { status: 503, body: {} });
  expect(answersAreExpected(fine.facts)).toMatchObject({ examined: 2, violations: 0 });
  const broken = new MadeUpRun().exchange([event], { status: 500, body: { code: 'internal_error', detail: 'broke' } });
  expect(answersAreExpected(broken.facts).violations).toBe(1);
  const accepted = new MadeUpRun().exchange([event], { status: 201, body: { id: idOf(1) }, expect: [401] });
  expect(answersAreExpected(accepted.facts).violations).toBe(1);
});

test('a read that is asked to come back passes where a fault held up others, and is found where none did', () => {
  const body = { code: 'rate_limited', detail: 'later' };
  const read: Exchange = { operation: 'receipt', subject: idOf(1), expect: [200], status: 429, body, at: 10_000 };
  const pause = { kind: 'pause', target: 'api-0', at: 2_000 };
  const heldUp = new MadeUpRun()
    .accept(event, idOf(1))
    .exchange([], read)
    .fault({ ...pause, until: 9_990 });
  expect(answersAreExpected(heldUp.facts).violations).toBe(0);
  const byAnother = new MadeUpRun()
    .accept(event, idOf(1))
    .exchange([], read)
    .fault({ kind: 'latency', target: 'api-1>postgres', at: 2_000, until: 9_000 });
  expect(answersAreExpected(byAnother.facts).violations).toBe(0);
  const atLeisure = new MadeUpRun()
    .accept(event, idOf(1))
    .exchange([], read)
    .fault({ ...pause, until: 5_000 });
  expect(answersAreExpected(atLeisure.facts).violations).toBe(1);
  expect(answersAreWellFormed(heldUp.facts).violations).toBe(1);
  const polite = new MadeUpRun().exchange([], { ...read, retryAfter: '1' });
  expect(answersAreWellFormed(polite.facts).violations).toBe(0);
});

test('an item of a batch that failed with an internal error is found', () => {
  const body = { data: [{ status: 500, code: 'internal_error', detail: 'broke' }] };
  const run = new MadeUpRun().exchange([event], { operation: 'batch', status: 207, body, expect: [201, 207] });
  expect(answersAreExpected(run.facts).violations).toBe(1);
});

test('a refusal without a detail, and a 503 without Retry-After, are found', () => {
  const right = { code: 'unavailable', detail: 'later' };
  const fine = new MadeUpRun().exchange([event], { status: 503, body: right, retryAfter: '1' });
  expect(answersAreWellFormed(fine.facts)).toMatchObject({ examined: 1, violations: 0 });
  expect(answersAreWellFormed(new MadeUpRun().exchange([event], { status: 503, body: right }).facts).violations).toBe(
    1,
  );
  const bare = new MadeUpRun().exchange([event], { status: 404, body: 'Not Found', expect: [404] });
  expect(answersAreWellFormed(bare.facts).violations).toBe(1);
});

test('a keyed event that never had a definite answer is found', () => {
  const settled = new MadeUpRun().exchange([event], { why: 'timeout' }).accept(event, idOf(1));
  expect(requestsAreSettled(settled.facts).violations).toBe(0);
  const unsettled = new MadeUpRun().exchange([event], { why: 'timeout' });
  expect(requestsAreSettled(unsettled.facts).violations).toBe(1);
});

test('a read of what belongs to another organization is found, in the run, at the end, and in a list', () => {
  const cross: Exchange = { operation: 'cross-read', subject: '/events/x', expect: [404], organization: 1 };
  const list: Exchange = { operation: 'list', expect: [200], status: 200, body: [idOf(1)] };
  const apart = new MadeUpRun()
    .record(event, idOf(1))
    .exchange([], { ...cross, status: 404, body: {} })
    .exchange([], list);
  const right = { reader: 1, path: '/events/x', status: 404 };
  expect(organizationsAreApart(apart.facts, apart.index, [right])).toMatchObject({ examined: 3, violations: 0 });
  expect(organizationsAreApart(apart.facts, apart.index, [{ ...right, status: 200 }]).violations).toBe(1);
  const seen = new MadeUpRun().exchange([], { ...cross, status: 200, body: {} });
  expect(organizationsAreApart(seen.facts, seen.index, []).violations).toBe(1);
  const listed = new MadeUpRun().record(event, idOf(1)).exchange([], { ...list, organization: 1 });
  expect(organizationsAreApart(listed.facts, listed.index, []).violations).toBe(1);
});

test('a queue with anything left in it is found', () => {
  const empty = { staged: 0, batches: 0, jobs: { waiting: 0, failed: 0 } };
  expect(queueIsDrained(empty).violations).toBe(0);
  expect(queueIsDrained({ ...empty, staged: 1 }).violations).toBe(1);
  expect(queueIsDrained({ ...empty, batches: 1 }).violations).toBe(1);
  expect(queueIsDrained({ ...empty, jobs: { failed: 1 } }).violations).toBe(1);
});

test('a log line that tells of something that broke is found, and one that tells of a fault is not', () => {
  expect(problemInLog('{"level":40,"msg":"a batch could not be recorded; it will be tried again"}')).toBeUndefined();
  expect(problemInLog('{"level":50,"msg":"maintenance failed; it will be done again"}')).toBeUndefined();
  const killed = 'a worker began this and did not come back from it: it may need more memory than there is';
  expect(problemInLog(`{"level":50,"msg":"left out","err":{"message":"${killed}"}}`)).toBeUndefined();
  const unmarked = 'the queue {weir} in Redis belonged to no database, and this one has counted events';
  expect(problemInLog(`{"level":50,"msg":"${unmarked}: Redis lost its data"}`)).toBeUndefined();
  expect(problemInLog('{"level":50,"msg":"a request failed","err":{"message":"x"}}')).toBe('a request failed: x');
  expect(problemInLog('{"level":60,"msg":"an error that nobody caught"}')).toBe('an error that nobody caught');
  expect(problemInLog('[UnhandledPromiseRejection: x]')).toBeUndefined();
  expect(problemInLog('node:internal/process/promises:391')).toBeDefined();
});

test('a process that ended by itself, or did not stop in order, is found', () => {
  const ended = { code: null, signal: 'SIGKILL', expected: true };
  const judge = (how: typeof ended | { code: number; signal: null; expected: boolean }) =>
    processesAreSound([{ name: 'api-0', logPath: '', ended: how }], { lines: 0, problems: [] }).violations;
  expect(judge(ended)).toBe(0);
  expect(judge({ code: 0, signal: null, expected: true })).toBe(0);
  expect(judge({ ...ended, expected: false })).toBe(1);
  expect(judge({ code: 1, signal: null, expected: true })).toBe(1);
  const problems = [{ process: 'api-0', line: 'a request failed' }];
  expect(processesAreSound([], { lines: 1, problems }).violations).toBe(1);
});
