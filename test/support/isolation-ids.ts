// Ids of everything that an organization has, for test/access/isolation.test.ts.

/** What the owner has, by the name of the thing; the same names with ids that nobody has; and what the stranger has. */
export type Ids = Record<
  | 'apiKey'
  | 'serviceAccount'
  | 'serviceToken'
  | 'feature'
  | 'lookupKey'
  | 'meter'
  | 'token'
  | 'plan'
  | 'charge'
  | 'customer'
  | 'subscription'
  | 'invoice'
  | 'line'
  | 'payment'
  | 'credit'
  | 'event'
  | 'rejected'
  | 'user'
  | 'session'
  | 'invitation'
  | 'erasure'
  | 'usageMove'
  | 'alert'
  | 'endpoint'
  | 'delivery',
  string
>;

/** Ids and names that nobody has. */
export const nobodys: Ids = {
  apiKey: '01890000-0000-7000-8000-000000000001',
  serviceAccount: '01890000-0000-7000-8000-000000000012',
  serviceToken: '01890000-0000-7000-8000-000000000013',
  feature: '01890000-0000-7000-8000-000000000002',
  lookupKey: 'no-such-feature',
  meter: '01890000-0000-7000-8000-000000000003',
  token: 'mtr_000000000000000000000000',
  plan: '01890000-0000-7000-8000-000000000004',
  charge: '01890000-0000-7000-8000-000000000008',
  customer: '01890000-0000-7000-8000-000000000005',
  subscription: '01890000-0000-7000-8000-000000000009',
  invoice: '01890000-0000-7000-8000-00000000000a',
  line: '01890000-0000-8000-8000-00000000000b',
  payment: '01890000-0000-7000-8000-000000000012',
  credit: '01890000-0000-7000-8000-00000000000c',
  event: '01890000-0000-7000-8000-000000000006',
  rejected: '01890000-0000-7000-8000-000000000007',
  user: '01890000-0000-7000-8000-00000000000d',
  session: '01890000-0000-7000-8000-00000000000e',
  invitation: '01890000-0000-7000-8000-00000000000f',
  erasure: '01890000-0000-7000-8000-000000000010',
  usageMove: '01890000-0000-7000-8000-000000000011',
  alert: '01890000-0000-7000-8000-000000000014',
  endpoint: '01890000-0000-7000-8000-000000000012',
  delivery: '01890000-0000-7000-8000-000000000013',
};
