import { expect, test } from 'vitest';
import { tellWelcome } from './welcome.ts';

const demo = {
  base_url: 'http://127.0.0.1:3000',
  email: 'demo@example.com',
  password: 'secret',
  api_key: 'org_live_x',
  meters: [
    { name: 'Calls', meter_token: 'token-count', meter_id: 'id-count', aggregation_type: 'COUNT' },
    { name: 'Tokens', meter_token: 'token-sum', meter_id: 'id-sum', aggregation_type: 'SUM' },
  ],
  subscription_id: 'id-subscription',
};

test('the lines to paste stand alone, so that nothing else is copied with them', () => {
  const lines = tellWelcome(demo.base_url, demo, '.weir').split('\n');
  expect(lines).toContain(
    String.raw`curl -sS -w '\n' -X POST http://127.0.0.1:3000/api/v1/sdk/track -H 'X-API-Key: org_live_x' -H 'Content-Type: application/json' -d '{"meter_token":"token-sum","customer_external_id":"acme","quantity":1250}'; sleep 1`,
  );
  expect(lines).toContain(
    String.raw`curl -sS -w '\n' 'http://127.0.0.1:3000/api/v1/meters/id-sum/usage?group_by=month' -H 'X-API-Key: org_live_x'`,
  );
  expect(lines).toContain(
    String.raw`curl -sS -o /dev/null -c - http://127.0.0.1:3000/api/v1/auth/login -H 'Content-Type: application/json' -d '{"email":"demo@example.com","password":"secret"}' | curl -sS -w '\n' -b - -X POST http://127.0.0.1:3000/api/v1/subscriptions/id-subscription/preview-invoice`,
  );
});

test('without a demo there is still the address', () => {
  expect(tellWelcome(demo.base_url, undefined, '.weir')).toContain('http://127.0.0.1:3000');
});
