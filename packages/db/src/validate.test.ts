import type { StagedEvent } from '@weir/shared/event';
import { AGGREGATION_TYPES } from '@weir/shared/meter';
import { describe, expect, test } from 'vitest';
import { validate } from './validate.ts';

const event: StagedEvent = {
  id: '0198c0de-0000-7000-8000-000000000000',
  organization_id: '0198c0de-0000-7000-8000-000000000001',
  meter_id: '0198c0de-0000-7000-8000-000000000002',
  aggregation: 'UNIQUE_COUNT',
  customer_external_id: 'acme',
  quantity: '1',
  timestamp: '2026-01-31T09:30:00.000Z',
};

describe('a meter that counts distinct users takes an event', () => {
  test.each([
    '{"user_id":"u1"}',
    '{"user_id":42}',
    '{"user_id":0}',
    '{"user_id":" "}',
    '{"plan":"pro","user_id":"u1"}',
  ])('with metadata %s', (metadata) => {
    expect(validate({ ...event, metadata })).toBeUndefined();
  });
});

describe('a meter that counts distinct users rejects an event', () => {
  test.each([undefined, '{}', '{"userId":"u1"}', '{"user":{"user_id":"u1"}}'])(
    'with metadata %s, because user_id is missing',
    (metadata) => {
      expect(validate({ ...event, ...(metadata !== undefined && { metadata }) })).toBe(
        'metadata.user_id is missing: a UNIQUE_COUNT meter counts its distinct values',
      );
    },
  );

  test.each(['{"user_id":""}', '{"user_id":null}', '{"user_id":true}', '{"user_id":["u1"]}', '{"user_id":{"id":1}}'])(
    'with metadata %s, because that is nobody',
    (metadata) => {
      expect(validate({ ...event, metadata })).toBe('metadata.user_id must be a number or a text that is not empty');
    },
  );
});

test.each(AGGREGATION_TYPES.filter((type) => type !== 'UNIQUE_COUNT'))(
  'a %s meter asks for no metadata',
  (aggregation) => {
    expect(validate({ ...event, aggregation })).toBeUndefined();
    expect(validate({ ...event, aggregation, metadata: '{"user_id":null}' })).toBeUndefined();
  },
);
