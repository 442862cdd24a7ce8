import { newLinkToken } from '@weir/shared/link-tokens';
import { expect, test } from 'vitest';
import { newApiKey, newServiceToken, newWidgetToken } from './secrets.ts';
import { withoutSecrets } from './without-secrets.ts';

test.each([
  'password',
  'current_password',
  'new_password',
  'token',
  'access_token',
  'refreshToken_token',
  'client_secret',
  'api_key',
  'apiKey',
  'Authorization',
  'cookie',
])('what is named %s is removed, wherever it stands and whatever it is', (name) => {
  const kept = withoutSecrets({ a: [{ [name]: 'x' }], [name]: { deep: 1 }, b: 2 });
  expect(kept).toEqual({ a: [{ [name]: '[removed]' }], [name]: '[removed]', b: 2 });
});

test('what is no secret stays as it was sent', () => {
  const sent = {
    name: 'Pro',
    meter_token: 'mtr_1',
    lookup_key: 'seats',
    idempotency_key: 'k',
    tiers: [{ up_to: null, unit_price: '0.1' }],
    metadata: { tokens: 12, is_new: true, note: null },
  };
  expect(withoutSecrets(sent)).toEqual(sent);
});

test('our own secrets are removed under any name', () => {
  const links = [newLinkToken('invitation'), newLinkToken('password-reset')];
  for (const secret of [newApiKey(), newServiceToken(), newWidgetToken(), ...links])
    expect(withoutSecrets({ note: ` ${secret}\n`, list: [secret] })).toEqual({
      note: '[removed]',
      list: ['[removed]'],
    });
});

test('Postgres can hold what is left, however strange and deep it was', () => {
  expect(withoutSecrets({ 'a\0': '\ud83d\0' })).toEqual({ 'a\ufffd': '\ufffd\ufffd' });
  const deep: unknown = JSON.parse(`${'['.repeat(5_000)}1${']'.repeat(5_000)}`);
  expect(JSON.stringify(withoutSecrets(deep))).toBe(`${'['.repeat(10)}"[…]"${']'.repeat(10)}`);
});
