import { RedisUnreachable } from '@weir/queue/redis-away';
import { expect, test } from 'vitest';
import { answerRepeats, MeterArchived } from './archived-meter.ts';

const archived = new MeterArchived({ id: '1', event: '', sender: null, claim: { key: 'k', fingerprint: '' } });

test('while Redis is away an event of an archived meter is refused as one whose key nobody has', async () => {
  const away = () => Promise.reject(new RedisUnreachable('not connected'));
  expect(await answerRepeats(['read', archived], away)).toEqual(['read', archived]);
  expect(archived.message).toContain('it may be accepted');
  await expect(answerRepeats([archived], () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});

test('nobody is asked about events of which none is of an archived meter', async () => {
  const all = ['read', new Error('refused')];
  expect(await answerRepeats(all, () => Promise.reject(new Error('asked')))).toBe(all);
});
