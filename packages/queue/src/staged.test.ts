import { expect, test } from 'vitest';
import type { StagedEvent } from '@weir/shared/event';
import {
  STAGED_SEPARATOR,
  firstStagedText,
  stagedBeginning,
  stagedBytes,
  stagedBytesByOrganization,
  stagedEvents,
  stagedText,
} from './staged.ts';

const least: StagedEvent = {
  id: '019a0000-0000-7000-8000-000000000001',
  organization_id: '019a0000-0000-7000-8000-00000000000a',
  meter_id: '019a0000-0000-7000-8000-00000000000b',
  aggregation: 'UNIQUE_COUNT',
  customer_external_id: 'Grüße, "you" \\ ["\n',
  quantity: '0.10',
  timestamp: '2026-01-31T23:59:59.000001Z',
};
const keyed: StagedEvent = { ...least, id: '019a0000-0000-7000-8000-000000000002', idempotency_key: 'k' };
const whole: StagedEvent = { ...keyed, metadata: '{"a":1.50,"b":"[\\"x\\"]"}', replayed: true };
const described: StagedEvent = { ...least, metadata: '{}' };

test('what is staged comes back as it was, with the fields it had and no others', () => {
  const events = [least, keyed, whole, described, { ...least, replayed: true as const }];
  for (const event of events) expect(stagedEvents([stagedText(event)])).toStrictEqual([event]);
  const flushes = [events.slice(0, 2), events.slice(2)].map((each) => each.map(stagedText).join(STAGED_SEPARATOR));
  expect(stagedEvents(flushes)).toStrictEqual(events);
  expect(stagedEvents([])).toEqual([]);
});

test('a worker reads what the last release has staged, and leaves what a newer one has', () => {
  const released = JSON.stringify(Object.values(keyed)).replace(/]$/, ',null]');
  expect(released).toBe(stagedText(keyed));
  expect(stagedEvents([released])).toStrictEqual([keyed]);
  const values = JSON.parse(stagedText(whole)) as unknown[];
  expect(() => stagedEvents([JSON.stringify([...values, 2])])).toThrow('staged by a newer version, in form 2');
});

test('an event is one line, and only its own text holds its beginning', () => {
  const about = { ...keyed, customer_external_id: stagedBeginning(least.id), metadata: JSON.stringify([least.id]) };
  expect(stagedText(least)).not.toContain('\n');
  expect(stagedText(least).startsWith(stagedBeginning(least.id))).toBe(true);
  expect(stagedText(about)).not.toContain(stagedBeginning(least.id));
});

test('each replay of an event has a text of its own', () => {
  const replayed: StagedEvent = { ...least, replayed: true };
  expect(stagedText(replayed)).not.toBe(stagedText(replayed));
});

test('a flush begins with the text of its first event', () => {
  const [first, second] = [stagedText(least), stagedText(keyed)];
  expect(firstStagedText(first)).toBe(first);
  expect(firstStagedText(first + STAGED_SEPARATOR + second)).toBe(`${first},`);
});

test('every event counts for its organization with its bytes, but for those that are replayed', () => {
  const other: StagedEvent = { ...described, organization_id: '019a0000-0000-7000-8000-00000000000c' };
  const events = [least, keyed, other, whole, described];
  const texts = events.map(stagedText);
  const flushes = [texts.slice(0, 2), texts.slice(2)].map((each) => each.join(STAGED_SEPARATOR));
  expect(stagedBytes('"ü€"')).toBe(9);
  expect(stagedBytesByOrganization(flushes, events)).toEqual(
    new Map([
      [
        least.organization_id,
        [least, keyed, described].reduce((sum, event) => sum + stagedBytes(stagedText(event)), 0),
      ],
      [other.organization_id, stagedBytes(stagedText(other))],
    ]),
  );
  expect(stagedBytesByOrganization([], [])).toEqual(new Map());
});
