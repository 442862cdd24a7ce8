import { isApiKey } from '@weir/api/access/secrets';
import { describe, expect, test } from 'vitest';
import { BATCH_EVENTS, heavyBatches, unknownApiKey } from './messages.ts';
import { settledOf } from './floods.ts';

const account = {
  index: 0,
  id: '',
  email: '',
  password: '',
  session: '',
  apiKey: '',
  meterId: '',
  meterToken: '',
  widgetToken: '',
};

test('a key that nobody was given has a checksum that is right', () => {
  expect(isApiKey(unknownApiKey())).toBe(true);
});

test('a heavy batch is within the limits of a batch, and its metadata within that of an event', () => {
  for (const { body = '' } of heavyBatches(account)) {
    expect(body.length).toBeLessThan(10_485_760);
    expect(body.length).toBeGreaterThan(7_000_000);
    expect(body.split('"metadata":')).toHaveLength(BATCH_EVENTS + 1);
    const [, metadata = ''] = /"metadata":(.*?)\},\{"meter_token/.exec(body) ?? [];
    expect(metadata.length).toBeLessThan(8_192);
  }
});

describe('what is known of the events of a batch', () => {
  test('is said for each of them where there is an answer', () => {
    const data = [{ status: 201 }, { status: 409 }, { status: 422 }, { status: 503 }, { status: 201 }];
    expect(settledOf(207, JSON.stringify({ data }))).toEqual({ accepted: 2, unsettled: 1 });
  });

  test('is that none was accepted where all were refused', () => {
    expect(settledOf(422, '')).toEqual({ accepted: 0, unsettled: 0 });
    expect(settledOf(503, '{"outcome":"not_accepted"}')).toEqual({ accepted: 0, unsettled: 0 });
  });

  test('is nothing where there is no answer, or one that does not know', () => {
    for (const [status, text] of [
      [0, ''],
      [503, '{"outcome":"unknown"}'],
      [503, '<html>'],
      [500, '{}'],
    ] as const) {
      expect(settledOf(status, text)).toEqual({ accepted: 0, unsettled: BATCH_EVENTS });
    }
  });
});
