import { describe, expect, test } from 'vitest';
import { MadeUpRun, UNIQUE_COUNT, eventOf, idOf } from './made-up-run.ts';
import {
  keysBelongToTheirEvents,
  rollupsEqualAcknowledged,
  rollupsEqualEvents,
  uniqueValuesEqualEvents,
} from './sums.ts';

const events = ['a', 'b', 'c'].map((key) => eventOf(key));
const user = eventOf('u', { meter: UNIQUE_COUNT, quantity: '1', userId: 42 });

function cleanRun(): MadeUpRun {
  const run = new MadeUpRun();
  [...events, user].forEach((event, index) => run.accept(event, idOf(index)).record(event, idOf(index)));
  return run;
}

/** The rollup of the SUM meter. */
function rollupOf(run: MadeUpRun, table: 'rollups' | 'days' | 'quarters' = 'rollups') {
  const [rollup] = run.state[table].values();
  if (rollup === undefined) throw new Error('the run has no rollup');
  return rollup;
}

test('a run whose sums agree passes every check', () => {
  const { facts, state, index } = cleanRun();
  expect(rollupsEqualEvents(state)).toMatchObject({ examined: 6, violations: 0 });
  expect(rollupsEqualAcknowledged(facts, state, index)).toMatchObject({ examined: 2, violations: 0 });
  expect(uniqueValuesEqualEvents(facts, state)).toMatchObject({ examined: 4, violations: 0 });
  expect(keysBelongToTheirEvents(facts, state, index)).toMatchObject({ examined: 4, violations: 0 });
});

describe('a rollup', () => {
  test.for([
    ['count', { count: 4n }],
    // What a float makes of three times 0.1.
    ['sum', { sum: '0.30000000000000004' }],
    ['smallest', { min: '0.05' }],
    ['largest', { max: '0.2' }],
    ['last event', { lastId: idOf(0) }],
    ['last quantity', { lastQuantity: '0.3' }],
  ] as const)('with another %s than its events is found', ([, changed]) => {
    const run = cleanRun();
    Object.assign(rollupOf(run), changed);
    expect(rollupsEqualEvents(run.state).violations).toBe(1);
  });

  test.for(['days', 'quarters'] as const)('among the %s is compared too', (table) => {
    const run = cleanRun();
    Object.assign(rollupOf(run, table), { sum: '0.4' });
    expect(rollupsEqualEvents(run.state).violations).toBe(1);
  });

  test('without events, and events without one, are found', () => {
    const run = cleanRun();
    run.state.events.pop();
    expect(rollupsEqualEvents(run.state).violations).toBe(3);
    const bare = cleanRun();
    bare.state.rollups.clear();
    expect(rollupsEqualEvents(bare.state).violations).toBe(2);
  });

  test('that lacks an event that was acknowledged is found, also when the event is gone with it', () => {
    const run = cleanRun().accept(eventOf('d'), idOf(9));
    expect(rollupsEqualEvents(run.state).violations).toBe(0);
    expect(rollupsEqualAcknowledged(run.facts, run.state, run.index).violations).toBe(1);
    run.fault({ losesClaims: true, lostEvents: [idOf(9)] });
    expect(rollupsEqualAcknowledged(run.facts, run.state, run.index).violations).toBe(0);
  });

  test('counts an event that nobody was told of, and that was recorded', () => {
    const run = cleanRun()
      .exchange([eventOf('d')], { why: 'reset' })
      .record(eventOf('d'), idOf(9));
    expect(rollupsEqualAcknowledged(run.facts, run.state, run.index).violations).toBe(0);
  });

  test('has the digits that were sent, and not those of a row that was changed together with it', () => {
    const run = new MadeUpRun().accept(eventOf('a'), idOf(1)).record(eventOf('a', { quantity: '0.2' }), idOf(1));
    expect(rollupsEqualEvents(run.state).violations).toBe(0);
    expect(rollupsEqualAcknowledged(run.facts, run.state, run.index).violations).toBe(1);
  });
});

test('a user that is missing among the distinct values, or is there for no event, is found', () => {
  const run = cleanRun();
  run.state.uniqueValues.clear();
  expect(uniqueValuesEqualEvents(run.facts, run.state).violations).toBe(2);
  run.state.uniqueValues.add('0 1 2026-11-20T10 acme 00');
  expect(uniqueValuesEqualEvents(run.facts, run.state).violations).toBe(3);
});

test.for([
  ['a day', 'meterValueDays', (quarters: string) => quarters.replace('1', '0')],
  ['a quarter', 'meterValueQuarters', (first: string) => first.replace(/^\d+/, '1999')],
] as const)(
  'a user that is missing among the values of %s of a meter, is there for no event, or at another time, is found',
  ([, table, spoilt]) => {
    const run = cleanRun();
    const values = run.state[table];
    const [name = ''] = values.keys();
    const right = values.get(name) ?? '';
    values.set(name, spoilt(right));
    expect(uniqueValuesEqualEvents(run.facts, run.state).violations).toBe(1);
    values.delete(name);
    expect(uniqueValuesEqualEvents(run.facts, run.state).violations).toBe(1);
    values.set('0 1 1999-11-20  00', right);
    expect(uniqueValuesEqualEvents(run.facts, run.state).violations).toBe(2);
  },
);

test('a key that another event holds, or one of no event, is found', () => {
  const run = cleanRun();
  const [name] = run.state.keys.keys();
  run.state.keys.set(name ?? '', idOf(8));
  expect(keysBelongToTheirEvents(run.facts, run.state, run.index).violations).toBe(1);
  run.state.keys.set('ff', idOf(9));
  expect(keysBelongToTheirEvents(run.facts, run.state, run.index).violations).toBe(2);
});
