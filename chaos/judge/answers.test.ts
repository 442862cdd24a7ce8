import { describe, expect, test } from 'vitest';
import { answersAreExpected, answersAreWellFormed, requestsAreSettled } from './answers.ts';
import { organizationsAreApart } from './isolation.ts';
import { processesAreSound, problemInLog } from './logs.ts';
import { MadeUpRun, eventOf, idOf, type Exchange } from './made-up-run.ts';
import type { FaultLine, SentEvent } from '../history.ts';
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

describe('a 429', () => {
  const body = { code: 'rate_limited', detail: 'later' };
  const read: Exchange = { operation: 'receipt', subject: idOf(1), expect: [200], status: 429, body, at: 10_000 };
  const refused: Exchange = { ...read, retryAfter: '1' };
  const served: Exchange = { ...read, status: 200, body: {}, at: 9_000, tookMs: 3_000 };
  const violationsOf = (run: MadeUpRun) => answersAreExpected(run.facts).violations;
  const beside = (count: number, others: Exchange = served) => {
    const run = new MadeUpRun();
    for (let read = 0; read < count; read += 1) run.exchange([], others);
    return run;
  };

  test('that comes at once is found beside two others, also while Postgres and its API are in trouble', () => {
    const run = beside(2).fault({ kind: 'pause', target: 'api-0,api-0>postgres,postgres', at: 2_000, until: 60_000 });
    expect(violationsOf(run.exchange([], refused))).toBe(1);
  });

  test('to tracking is found, however many others are under way', () => {
    expect(violationsOf(beside(50).exchange([event], { status: 429, body, retryAfter: '9', at: 10_000 }))).toBe(1);
  });

  test('passes after a wait beside two others of the organization, and beside forty at once', () => {
    const [waited, slow] = [
      { ...refused, at: 9_500, tookMs: 5_002 },
      { ...served, tookMs: 5_600 },
    ];
    expect(violationsOf(beside(2, slow).exchange([], waited))).toBe(0);
    expect(violationsOf(beside(1, slow).exchange([], waited))).toBe(1);
    expect(violationsOf(beside(2).exchange([], waited))).toBe(1);
    expect(violationsOf(beside(40).exchange([], refused))).toBe(0);
    expect(violationsOf(beside(39).exchange([], refused))).toBe(1);
    expect(violationsOf(beside(40, { ...served, organization: 1 }).exchange([], refused))).toBe(1);
    expect(violationsOf(beside(40, { ...served, api: 1 }).exchange([], refused))).toBe(1);
  });

  test('counts those whose clients hung up, and those of the other API while one serves for both', () => {
    const hungUp: Exchange = { operation: 'receipt', subject: idOf(1), why: 'reset', at: 1_000 };
    expect(violationsOf(beside(40, hungUp).exchange([], refused))).toBe(0);
    const restart = { kind: 'rolling restart', target: 'api-0,api-1', at: 5_000, until: 20_000 };
    expect(
      violationsOf(
        beside(40, { ...served, api: 1 })
          .fault(restart)
          .exchange([], refused),
      ),
    ).toBe(0);
  });

  test('passes where corrections may have cost more than five seconds pay, and says so by its Retry-After', () => {
    const correction: Exchange = { operation: 'correct', subject: idOf(2), expect: [201], status: 201, body: {} };
    const after = (tookMs: number) => new MadeUpRun().exchange([], { ...correction, at: 10_000 - tookMs, tookMs });
    const owing: Exchange = { ...read, retryAfter: '6' };
    expect(violationsOf(after(2_950).exchange([], owing))).toBe(0);
    expect(violationsOf(after(2_850).exchange([], owing))).toBe(1);
    expect(violationsOf(after(2_950).exchange([], { ...owing, retryAfter: '5' }))).toBe(1);
    expect(violationsOf(after(2_950).exchange([], { ...owing, at: 11_000 }))).toBe(1);
  });

  test('is found where corrections were paid for as they came, however many there were', () => {
    const run = new MadeUpRun();
    for (let at = 0; at < 50_000; at += 2_500)
      run.exchange([], {
        operation: 'correct',
        subject: idOf(2),
        expect: [201],
        status: 201,
        body: {},
        at,
        tookMs: 20,
      });
    expect(violationsOf(run.exchange([], { ...read, retryAfter: '6', at: 50_000 }))).toBe(1);
  });

  test('is found where nobody had a place but others that were refused as well', () => {
    const run = new MadeUpRun();
    for (let at = 10_000; at < 14_800; at += 600) run.exchange([], { ...refused, at, tookMs: 5_000 });
    expect(violationsOf(run)).toBe(8);
  });

  test('has to say when to come back', () => {
    expect(answersAreWellFormed(new MadeUpRun().exchange([], read).facts).violations).toBe(1);
    expect(answersAreWellFormed(new MadeUpRun().exchange([], refused).facts).violations).toBe(0);
  });
});

test('after Redis lost its data a revoked key may be taken for a while, and nothing else is forgiven', () => {
  const loss = { losesClaims: true, until: 100 };
  const violationsOf = (exchange: Exchange) =>
    answersAreExpected(new MadeUpRun().exchange([event], exchange).fault(loss).facts).violations;
  const taken: Exchange = { status: 201, body: { id: idOf(1) }, expect: [401] };
  expect(violationsOf(taken)).toBe(0);
  expect(violationsOf({ ...taken, at: 16_000 })).toBe(1);
  expect(violationsOf({ ...taken, operation: 'refusal' })).toBe(1);
  for (const status of [400, 401, 404, 422])
    expect(violationsOf({ status, body: { code: 'not_found', detail: 'x' }, expect: [201, 409] })).toBe(1);
  expect(violationsOf({ status: 404, body: { code: 'not_found', detail: 'x' }, expect: [401] })).toBe(1);
});

test('an item of a batch that failed with an internal error is found', () => {
  const body = { data: [{ status: 500, code: 'internal_error', detail: 'broke' }] };
  const run = new MadeUpRun().exchange([event], { operation: 'batch', status: 207, body, expect: [201, 207] });
  expect(answersAreExpected(run.facts).violations).toBe(1);
});

test('an item of a batch that is answered what it must not be is found, and so is a wrong whole', () => {
  const violationsOf = (sent: SentEvent, item: object, status = 207) => {
    const run = new MadeUpRun().accept(eventOf('held'), idOf(1));
    run.exchange([sent], { operation: 'batch', status, body: { data: [item] }, expect: [201, 207] });
    return answersAreExpected(run.facts).violations;
  };
  const refused = (status: number, code = 'x') => ({ status, code, detail: 'y' });
  const { key: _, ...keyless } = eventOf('b', { mark: 'b' });
  const [unknown, nothing] = [eventOf('b', { meter: -1 }), eventOf('b', { quantity: '0' })];
  for (const status of [400, 401, 404, 409, 422, 429]) expect(violationsOf(event, refused(status))).toBe(1);
  expect(violationsOf(keyless, refused(409, 'duplicate_event'))).toBe(1);
  expect(violationsOf(unknown, { status: 201, id: idOf(2) }, 201)).toBe(1);
  expect(violationsOf(nothing, refused(404))).toBe(1);
  expect(violationsOf(event, refused(422, 'idempotency_key_reused'))).toBe(1);
  expect(violationsOf(event, { status: 201, id: idOf(2) })).toBe(1);
  expect(violationsOf(event, refused(409, 'duplicate_event'), 201)).toBe(1);

  expect(violationsOf(event, { status: 201, id: idOf(2) }, 201)).toBe(0);
  expect(violationsOf(event, refused(409, 'duplicate_event'))).toBe(0);
  expect(violationsOf(event, refused(503))).toBe(0);
  for (const status of [404, 503]) expect(violationsOf(unknown, refused(status))).toBe(0);
  expect(violationsOf(nothing, refused(422))).toBe(0);
  expect(violationsOf(eventOf('held', { quantity: '7' }), refused(422, 'idempotency_key_reused'))).toBe(0);
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
  const lineOf = (line: string) => problemInLog('worker-0', line)?.line;
  expect(lineOf('{"level":40,"msg":"a batch could not be recorded; it will be tried again"}')).toBeUndefined();
  const killed = 'a worker began this and did not come back from it: it may need more memory than there is';
  expect(lineOf(`{"level":50,"msg":"left out","err":{"message":"${killed}"}}`)).toBeUndefined();
  const unmarked = 'the queue {weir} in Redis belonged to no database, and this one has counted events';
  expect(lineOf(`{"level":50,"msg":"${unmarked}: Redis lost its data"}`)).toBeUndefined();
  expect(lineOf('{"level":50,"msg":"a request failed","err":{"message":"x"}}')).toBe('a request failed: x');
  expect(lineOf('{"level":60,"msg":"an error that nobody caught"}')).toBe('an error that nobody caught');
  expect(lineOf('[UnhandledPromiseRejection: x]')).toBeUndefined();
  expect(lineOf('node:internal/process/promises:391')).toBeDefined();
});

test('maintenance may fail where it meets a fault, and is found to fail where it meets none', () => {
  const failed = (time: number) =>
    problemInLog('worker-0', `{"level":50,"time":${time},"msg":"maintenance failed; it will be done again"}`);
  const violationsOf = (fault: Partial<FaultLine>, time: number) => {
    const run = new MadeUpRun().line({ type: 'phase', at: 100, time: 1_000_100, phase: 'load' });
    const [problem] = [failed(1_000_000 + time)];
    const problems = problem === undefined ? [] : [problem];
    return processesAreSound(run.fault({ at: 5_000, until: 6_000, ...fault }).facts, [], { lines: 1, problems })
      .violations;
  };
  for (const target of ['postgres', 'redis', 'worker-0', 'worker-1,worker-0>redis'])
    expect(violationsOf({ target }, 5_500), target).toBe(0);
  for (const target of ['worker-1', 'api-0>postgres', 'receiver-0'])
    expect(violationsOf({ target }, 5_500), target).toBe(1);
  expect(violationsOf({}, 21_000)).toBe(0);
  for (const time of [4_000, 23_000]) expect(violationsOf({}, time)).toBe(1);
  const off = { kind: 'clock off', target: 'worker-0' };
  expect(violationsOf(off, 3_605_500)).toBe(0);
});

test('a process that ended by itself, or did not stop in order, is found', () => {
  const { facts } = new MadeUpRun();
  const ended = { code: null, signal: 'SIGKILL', expected: true };
  const judge = (how: (typeof ended & { isHung?: boolean }) | { code: number; signal: null; expected: boolean }) =>
    processesAreSound(facts, [{ name: 'api-0', logPath: '', ended: how }], { lines: 0, problems: [] }).violations;
  expect(judge(ended)).toBe(0);
  expect(judge({ code: 0, signal: null, expected: true })).toBe(0);
  expect(judge({ ...ended, expected: false })).toBe(1);
  expect(judge({ ...ended, isHung: true })).toBe(1);
  expect(judge({ code: 1, signal: null, expected: true })).toBe(1);
  const problems = [{ process: 'api-0', line: 'a request failed' }];
  expect(processesAreSound(facts, [], { lines: 1, problems }).violations).toBe(1);
});
