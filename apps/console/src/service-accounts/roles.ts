import type { Schema } from '../api/client.ts';

type ServiceRole = Schema<'ServiceAccount'>['role'];

/** What each role may, from the least to the most. */
export const ROLES: readonly { value: ServiceRole; label: string; about: string }[] = [
  { value: 'viewer', label: 'Viewer', about: 'Reads everything.' },
  {
    value: 'biller',
    label: 'Biller',
    about:
      'Changes customers, subscriptions, credits, invoices, webhooks and alerts, too, and voids and amends events.',
  },
  { value: 'admin', label: 'Admin', about: 'Changes everything but people, their passwords and sessions.' },
];

/** A role as it is shown. */
export function roleWords(role: ServiceRole): string {
  return ROLES.find(({ value }) => value === role)?.label ?? role;
}
