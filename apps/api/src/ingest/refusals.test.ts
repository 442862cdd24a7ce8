import { Refusal } from '@weir/shared/errors';
import { expect, test } from 'vitest';
import { countByReason, leavesKeyOpen, throwIfAboutTheRequest } from './refusals.ts';

const notAccepted = new Refusal('unavailable', 'nothing was kept', { outcome: 'not_accepted' });
const unknown = new Refusal('unavailable', 'it may have been kept', { outcome: 'unknown' });
const revoked = new Refusal('unauthenticated', 'the key was deleted');
const invalid = new Refusal('invalid_request', 'quantity must be greater than 0');

test('a batch none of whose events could be taken now is refused as a whole', () => {
  expect(() => throwIfAboutTheRequest([notAccepted, notAccepted])).toThrow(notAccepted);
  expect(() => throwIfAboutTheRequest([revoked, revoked])).toThrow(revoked);
});

test('a batch of which anything may have been kept is never called not accepted', () => {
  expect(() => throwIfAboutTheRequest([notAccepted, unknown])).toThrow(unknown);
  expect(() => throwIfAboutTheRequest([revoked, unknown])).toThrow(unknown);
});

test('a batch whose events have different troubles is answered event by event', () => {
  expect(() => throwIfAboutTheRequest([notAccepted, invalid])).not.toThrow();
  expect(() => throwIfAboutTheRequest([unknown, revoked, invalid])).not.toThrow();
});

test('a batch that met a deleted key, and of which nothing was taken, is refused for the key', () => {
  for (const other of [invalid, notAccepted]) {
    expect(() => throwIfAboutTheRequest([other, revoked])).toThrow(revoked);
    expect(() => throwIfAboutTheRequest([revoked, other])).toThrow(revoked);
  }
});

test('a refusal leaves open whether the key is deleted unless admission has said so, or it is for now', () => {
  const held = new Refusal('duplicate_event', 'it is accepted');
  const reused = new Refusal('idempotency_key_reused', 'it belongs to another event');
  const broken = new Refusal('internal_error', 'something broke');
  expect([held, reused, revoked, notAccepted, unknown, broken].filter(leavesKeyOpen)).toEqual([]);
  const noMeter = new Refusal('meter_not_found', 'there is no such meter');
  expect([invalid, noMeter].every(leavesKeyOpen)).toBe(true);
});

test('events that are refused for now are counted by why, and those that are refused for good are not', () => {
  const crowd = new Refusal('unavailable', 'too many come', { outcome: 'not_accepted', because: 'crowd' });
  const stopping = new Refusal('shutting_down', 'nothing was kept', { outcome: 'not_accepted' });
  const broken = new Refusal('internal_error', 'something broke', { outcome: 'unknown' });
  const counted = countByReason([crowd, notAccepted, invalid, unknown, stopping, revoked, crowd, broken]);
  expect(Object.fromEntries(counted)).toEqual({ crowd: 2, away: 2, shutting_down: 1, broken: 1 });
});
