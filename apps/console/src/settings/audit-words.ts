// An entry of the audit log in words: what was done, to what, and what was sent. What is not known here is told by its own name.

import type { components } from '../api/openapi.d.ts';
import { formatDecimal } from '../text/decimals.ts';
import { formatDay, formatInstant, isDay } from '../text/instants.ts';

export type AuditEntry = components['schemas']['AuditEntry'];

/** Where what was changed can be looked at. */
interface Place {
  to: string;
  /** The query of the address. */
  search?: Record<string, string>;
  label: string;
}

interface SentField {
  name: string;
  value: string;
}

const ACTIONS: Record<string, string> = {
  'organization.create': 'Made the organization',
  'billing_settings.update': 'Changed the settings of billing',
  'widget_settings.update': 'Changed the widget',
  'session.create': 'Signed in',
  'session.delete': 'Ended a session',
  'user.change_password': 'Changed the password',
  'user.reset_password': 'Set a new password by a link',
  'user.end_other_sessions': 'Ended all other sessions',
  'user.update': 'Changed the role of a person',
  'user.delete': 'Removed a person',
  'user.make_reset_link': 'Made a link for a new password',
  'invitation.create': 'Invited somebody',
  'invitation.delete': 'Took an invitation back',
  'invitation.accept': 'Joined by an invitation',
  'service_token.create': 'Made a token of a service account',
  'service_token.delete': 'Deleted a token of a service account',
  'plan.add_feature': 'Included a feature in a plan',
  'plan.update_feature': 'Changed what a plan gives of a feature',
  'plan.remove_feature': 'Took a feature out of a plan',
  'charge.create': 'Added a charge to a plan',
  'charge.update': 'Changed or archived a price',
  'credit.create': 'Granted credit',
  'subscription.create': 'Subscribed a customer',
  'subscription.change': 'Set a change of the plan',
  'subscription.settle': 'Billed what was left for the next invoice',
  'invoice.pay': 'Recorded a payment of an invoice',
  'payment.take_back': 'Took a payment back',
  'invoice.mark_uncollectible': 'Marked an invoice uncollectible',
  'invoice_line.create': 'Added a line to a draft',
  'invoice_line.delete': 'Took a line off a draft',
  'webhook_endpoint.rotate': 'Gave a webhook endpoint another secret',
  'webhook_endpoint.test': 'Sent a test to a webhook endpoint',
  'webhook_endpoint.replay': 'Sent events to a webhook endpoint again',
  'delivery.retry': 'Sent a webhook again',
  'event.replay': 'Sent a rejected event again',
};

const VERBS: Record<string, string> = {
  create: 'Made',
  update: 'Changed',
  delete: 'Deleted',
  amend: 'Amended',
  cancel: 'Canceled',
  finalize: 'Finalized',
  void: 'Voided',
};

/** Returns an action as a person would say it. */
export function actionWords(action: string): string {
  const known = ACTIONS[action];
  if (known !== undefined) return known;
  const [kind = '', verb = ''] = action.split('.');
  const noun = kind.replaceAll('_', ' ').replace('api key', 'API key');
  const article = /^[aeioA]/.test(noun) ? 'an' : 'a';
  return `${VERBS[verb] ?? sentence(verb)} ${article} ${noun}`;
}

const PAGES: Record<string, string> = {
  plan: '/plans',
  customer: '/customers',
  subscription: '/subscriptions',
  invoice: '/invoices',
  meter: '/meters',
  service_account: '/service-accounts',
  webhook_endpoint: '/webhooks',
  alert: '/alerts',
};

/** Where a thing stands that belongs to another one, which the entry names. */
const WITHIN: Record<string, [field: string, kind: string, tab?: string]> = {
  service_token: ['service_account_id', 'service_account'],
  charge: ['plan_id', 'plan'],
  credit: ['customer_id', 'customer', 'credits'],
  invoice_line: ['invoice_id', 'invoice'],
  payment: ['invoice_id', 'invoice'],
};

const PEOPLE: Place = { to: '/settings', search: { tab: 'people' }, label: 'People' };

const LISTS: Record<string, Place> = {
  feature: { to: '/features', label: 'Features and meters' },
  api_key: { to: '/api-keys', label: 'API keys' },
  user: PEOPLE,
  invitation: PEOPLE,
  organization: { to: '/settings', label: 'Settings' },
  billing_settings: { to: '/settings', label: 'Settings' },
};

/** Where it can be looked at; undefined for what has no page, or is gone. */
export function placeOf({ action, resource_type: kind, resource_id: id, changes }: AuditEntry): Place | undefined {
  const isGone = action.endsWith('.delete');
  const within = WITHIN[kind];
  const outer = within === undefined ? undefined : changes?.[within[0]];
  if (within !== undefined && typeof outer === 'string') {
    const [, outerKind, tab] = within;
    const place = { to: `${PAGES[outerKind]}/${outer}`, label: `The ${outerKind.replaceAll('_', ' ')}` };
    return tab === undefined ? place : { ...place, search: { tab } };
  }
  if (kind === 'event' && id !== null) return { to: '/events', search: { event: id }, label: 'The event' };
  const page = PAGES[kind];
  if (page !== undefined && id !== null && !isGone)
    return { to: `${page}/${id}`, label: nameIn(changes) ?? `The ${kind.replaceAll('_', ' ')}` };
  return isGone ? undefined : LISTS[kind];
}

function nameIn(changes: AuditEntry['changes']): string | undefined {
  const names = [changes?.['name'], changes?.['display_name'], changes?.['external_id']];
  return names.find((each): each is string => typeof each === 'string' && each.trim() !== '');
}

/** Fields whose names say something else to a person than to a program. */
const FIELDS: Record<string, string> = {
  is_active: 'Takes new subscriptions',
  is_enabled: 'On',
  lookup_id: 'Lookup ID',
  external_id: 'External ID',
  billing_address_line1: 'Street',
  billing_address_city: 'City',
  billing_address_state: 'State',
  billing_address_country: 'Country',
  billing_address_postal_code: 'Postal code',
  cancel_at_period_end: 'At the end of the period',
  pending_plan_id: 'Next plan',
  invoice_grace_hours: 'Grace period',
  payment_terms_days: 'Payment terms',
  metadata_keys: 'Grouped by',
};

/** Returns what was sent, field by field, times in the zone. Passwords and other secrets are in no entry. */
export function sentFields({ resource_type: kind, changes }: AuditEntry, zone: string): SentField[] {
  const within = WITHIN[kind]?.[0];
  return Object.entries(changes ?? {})
    .filter(([field]) => field !== within)
    .map(([field, value]) => ({
      name: FIELDS[field] ?? sentence(field.replace(/_id$/, '')),
      value: valueWords(value, zone, field),
    }));
}

/** Fields that are dates or instants, by the end of their name: `paid_at`, `trial_end_date`, `effective_from`, `timestamp`. */
const TIMES = /(?:^|_)(?:at|date|from|to|timestamp)$/;

/** Fields whose value is one of some words of the API: `in_advance`. */
const CHOICES = new Set(['timing', 'model', 'when']);

const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/;

/** What somebody has named stays as it was sent: by that it is searched for. */
function valueWords(value: unknown, zone: string, field: string): string {
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return formatDecimal(value);
  if (typeof value === 'string') return textWords(value, zone, field);
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : value.map((each) => valueWords(each, zone, field)).join('; ');
  const parts = Object.entries(value as object);
  // Its keys are named by whoever sent it, too.
  if (field === 'metadata') return parts.map(([key, each]) => `${key} ${valueWords(each, zone, field)}`).join(', ');
  return parts.map(([name, each]) => `${name.replaceAll('_', ' ')} ${valueWords(each, zone, name)}`).join(', ');
}

function textWords(text: string, zone: string, field: string): string {
  if (CHOICES.has(field)) return text.replaceAll('_', ' ');
  if (!TIMES.test(field)) return text;
  if (isDay(text)) return formatDay(text);
  const isInstant = INSTANT.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text));
  return isInstant ? formatInstant(text, zone) : text;
}

function sentence(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
