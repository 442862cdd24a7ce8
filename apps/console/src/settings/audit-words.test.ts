import { expect, test } from 'vitest';
import { actionWords, placeOf, sentFields, type AuditEntry } from './audit-words.ts';

const ID = '01890000-0000-7000-8000-000000000004';
const entry = (action: string, changes: AuditEntry['changes'] = null): AuditEntry => ({
  id: ID,
  created_at: '2026-11-23T12:00:00Z',
  action,
  resource_type: action.split('.')[0] ?? '',
  resource_id: ID,
  actor: { type: 'user', id: ID, email: 'ada@example.com', name: null },
  address: null,
  user_agent: null,
  changes,
  outcome: 'done',
});

test('what was done is said in words, also where nobody has written them down', () => {
  expect(actionWords('credit.create')).toBe('Granted credit');
  expect(actionWords('api_key.delete')).toBe('Deleted an API key');
  expect(actionWords('usage_move.create')).toBe('Made a usage move');
  expect(actionWords('event.amend')).toBe('Amended an event');
});

test('an entry leads to what was changed, or to what it is a part of, and not to what is gone', () => {
  expect(placeOf(entry('plan.update', { name: 'Scale' }))).toEqual({ to: `/plans/${ID}`, label: 'Scale' });
  expect(placeOf(entry('charge.create', { plan_id: 'p1', unit_price: '49' }))).toEqual({
    to: '/plans/p1',
    label: 'The plan',
  });
  const account = { to: '/service-accounts/a1', label: 'The service account' };
  expect(placeOf(entry('service_token.delete', { service_account_id: 'a1' }))).toEqual(account);
  const credit = { to: '/customers/c1', search: { tab: 'credits' }, label: 'The customer' };
  expect(placeOf(entry('credit.create', { customer_id: 'c1' }))).toEqual(credit);
  const invoice = { to: '/invoices/i1', label: 'The invoice' };
  expect(placeOf(entry('payment.take_back', { invoice_id: 'i1' }))).toEqual(invoice);
  expect(placeOf(entry('event.replay'))).toMatchObject({ to: '/events', search: { event: ID } });
  expect(placeOf(entry('plan.delete'))).toBeUndefined();
  expect(placeOf(entry('session.create'))).toBeUndefined();
});

test('what was sent is told field by field, in words', () => {
  const changes = {
    plan_id: 'p1',
    display_name: 'Tokens',
    timing: 'in_advance',
    is_soft_limit: false,
    description: null,
    effective_from: '2026-11-01',
    expires_at: '2026-12-31T15:00:00Z',
    tiers: [
      { up_to: '1000', unit_price: '0.10' },
      { up_to: null, unit_price: '0.08' },
    ],
  };
  expect(sentFields(entry('charge.create', changes), 'Asia/Tokyo')).toEqual([
    { name: 'Display name', value: 'Tokens' },
    { name: 'Timing', value: 'in advance' },
    { name: 'Is soft limit', value: 'no' },
    { name: 'Description', value: 'none' },
    { name: 'Effective from', value: '1 Nov 2026' },
    { name: 'Expires at', value: expect.stringContaining('1 Jan 2027') },
    { name: 'Tiers', value: 'up to 1000, unit price 0.10; up to none, unit price 0.08' },
  ]);
  expect(sentFields(entry('invoice.finalize'), 'UTC')).toEqual([]);
});

test('what somebody has named is told as it was sent, and so is what looks like a time and is none', () => {
  const sent = {
    external_id: '4711-00-12',
    name: '2024-01-02',
    reference: '2024-01-02T03:04:05Z',
    lookup_id: 'acme_corp',
    metadata_keys: ['user_id', '2024-99-99'],
    metadata: { model: 'gpt_4', sent_at: '2024-01-02' },
    paid_at: '2024-13-45',
    start_date: '2026-02-30T00:00:00Z',
    timestamp: '2024-01-02T03:04:05+99:99',
  };
  expect(sentFields(entry('customer.create', sent), 'UTC').map(({ value }) => value)).toEqual([
    '4711-00-12',
    '2024-01-02',
    '2024-01-02T03:04:05Z',
    'acme_corp',
    'user_id; 2024-99-99',
    'model gpt_4, sent_at 2024-01-02',
    '2024-13-45',
    '2026-02-30T00:00:00Z',
    '2024-01-02T03:04:05+99:99',
  ]);
});
