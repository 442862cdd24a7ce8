// Requests that must be refused, and of which nothing may be left behind.

import type { SentEvent } from '../history.ts';
import { trackRequest, type ClientContext } from './client-context.ts';
import type { Organization } from './made-organizations.ts';
import type { Outgoing } from './sender.ts';

type Refused = (context: ClientContext, organization: Organization, event: SentEvent) => Outgoing;

const REFUSED: Refused[] = [
  (_, organization, event) => ({
    ...trackRequest(organization, { ...event, meter: -1 }),
    expect: [404],
    asksPostgres: true,
  }),
  (_, organization, event) => ({ ...trackRequest(organization, { ...event, quantity: '0' }), expect: [422] }),
  (_, organization, event) => ({ ...trackRequest(organization, { ...event, quantity: '-0.5' }), expect: [422] }),
  (_, organization, event) => ({
    ...trackRequest(organization, { ...event, timestamp: '2026-02-30T10:00:00Z' }),
    expect: [422],
  }),
  (_, organization, event) => ({
    ...trackRequest(organization, { ...event, timestamp: '2026-02-03T10:00:00' }),
    expect: [422],
  }),
  (_, organization, event) => ({
    ...trackRequest(organization, { ...event, timestamp: '2099-01-01T00:00:00Z' }),
    expect: [422],
  }),
  // The meter of another organization.
  (context, organization, event) => ({
    ...trackRequest(context.pickOther(organization), event, { apiKey: organization.apiKey }),
    organization: organization.index,
    expect: [404],
  }),
  (_, organization, event) => ({
    ...trackRequest(organization, event, { apiKey: 'org_live_mistyped' }),
    expect: [401],
  }),
  (_, organization, event) => changeBody(trackRequest(organization, event), (body) => body.slice(0, -2), 400),
  (_, organization, event) =>
    changeBody(trackRequest(organization, event), (body) => `{"idempotencyKey":"misspelt",${body.slice(1)}`, 422),
  (_, organization, event) =>
    changeBody(trackRequest(organization, event), (body) => `{"quantity":1,${body.slice(1)}`, 400),
];

/** One request that is wrong in one way. */
export async function trackRefused(context: ClientContext, signal: AbortSignal): Promise<void> {
  const organization = context.pickOrganization();
  const refused = context.random.pick(REFUSED);
  await context.sender.send(
    { ...refused(context, organization, context.newEvent(organization)), operation: 'refusal' },
    signal,
  );
}

function changeBody(outgoing: Outgoing, change: (body: string) => string, status: number): Outgoing {
  const { message } = outgoing;
  return { ...outgoing, message: { ...message, body: change(message.body ?? '') }, expect: [status] };
}
