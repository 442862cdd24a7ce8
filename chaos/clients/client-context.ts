// What every scenario of the clients has at hand: whom to work for, and what they remember of earlier scenarios.

import { countsValues } from '@weir/shared/meter';
import type { SentEvent } from '../history.ts';
import type { Random } from '../random.ts';
import type { Message } from './http-client.ts';
import { bodyOf, makeEvent, tokenOf } from './made-events.ts';
import { sessionHeaders, type Organization } from './made-organizations.ts';
import type { Outgoing, Sender } from './sender.ts';

/** An event that was accepted, as a client remembers it. */
export interface Accepted {
  organization: Organization;
  event: SentEvent;
  id: string;
}

/** Accepted events that are remembered; the next one takes the place of an earlier one. */
const REMEMBERED_MAX = 4_000;

export class ClientContext {
  readonly sender: Sender;
  readonly random: Random;
  readonly organizations: readonly Organization[];
  /** To which number of the feed of an organization was read. */
  readonly readTo = new Map<Organization, number>();
  /** How many alerts were made of an organization. */
  readonly alertsMade = new Map<Organization, number>();
  /** Those that bill. */
  readonly billed: readonly Organization[];
  /** Those whose admin is at work. */
  readonly #busy = new Set<Organization>();
  readonly #accepted: Accepted[] = [];
  readonly #rejected: Accepted[] = [];
  #names = 0;

  constructor(sender: Sender, organizations: readonly Organization[], random: Random) {
    this.sender = sender;
    this.random = random;
    this.organizations = organizations;
    this.billed = organizations.filter(({ billingTime }) => billingTime !== undefined);
  }

  /** A word that no other request of the run has. */
  newName(): string {
    this.#names += 1;
    return this.#names.toString(36);
  }

  pickOrganization(): Organization {
    return this.random.pick(this.organizations);
  }

  /**
   * Has the admin of an organization that bills do something. One does one thing after another, as a person does: what comes
   * meanwhile is left out, since a caller may have few reads at once.
   */
  async administer(work: (organization: Organization) => Promise<void>): Promise<void> {
    const organization = this.random.pick(this.billed);
    if (this.#busy.has(organization)) return;
    this.#busy.add(organization);
    try {
      await work(organization);
    } finally {
      this.#busy.delete(organization);
    }
  }

  /** Another organization than this one. */
  pickOther(organization: Organization): Organization {
    return this.random.pick(this.organizations.filter((each) => each !== organization));
  }

  newEvent(organization: Organization): SentEvent {
    return makeEvent(this.random, organization, { key: `key-${this.newName()}` });
  }

  newKeylessEvent(organization: Organization): SentEvent {
    return makeEvent(this.random, organization, { mark: `mark-${this.newName()}` });
  }

  remember(accepted: Accepted): void {
    const { event, organization } = accepted;
    const meter = organization.meters[event.meter];
    const isRejected = meter !== undefined && countsValues(meter.aggregation) && event.userId === undefined;
    const memory = isRejected ? this.#rejected : this.#accepted;
    if (memory.length < REMEMBERED_MAX) memory.push(accepted);
    else memory[this.random.int(0, REMEMBERED_MAX - 1)] = accepted;
  }

  /** An event that was accepted earlier; undefined while there is none. */
  recall(): Accepted | undefined {
    return this.#accepted.length === 0 ? undefined : this.random.pick(this.#accepted);
  }

  /** The same, and it is forgotten, so that one client only does something with it. */
  recallOnce(): Accepted | undefined {
    const index = this.random.int(0, Math.max(0, this.#accepted.length - 1));
    return this.#accepted.splice(index, 1)[0];
  }

  /** An event that its meter will not have taken. It is forgotten, so that it is replayed by one client only. */
  recallRejected(): Accepted | undefined {
    const index = this.random.int(0, Math.max(0, this.#rejected.length - 1));
    return this.#rejected.splice(index, 1)[0];
  }
}

/** The request that tracks one event, under the organization's own key or another one. */
export function trackRequest(
  organization: Organization,
  event: SentEvent,
  { apiKey = organization.apiKey, keyInHeader = false } = {},
): Outgoing {
  const { key, ...withoutKey } = event;
  const moved = keyInHeader && key !== undefined;
  const headers: Record<string, string> = { 'x-api-key': apiKey };
  if (moved) headers['idempotency-key'] = key;
  const body = bodyOf(moved ? withoutKey : event, tokenOf(organization, event));
  return {
    organization: organization.index,
    operation: 'track',
    events: [event],
    expect: [201, 409],
    isRetried: event.key !== undefined,
    message: { method: 'POST', path: '/api/v1/sdk/track', headers, body },
  };
}

/** A message of a reader, by API key. */
export function readMessage(organization: Organization, path: string): Message {
  return { method: 'GET', path: `/api/v1${path}`, headers: { 'x-api-key': organization.apiKey } };
}

/** A message of an admin, by session. */
export function adminMessage(organization: Organization, method: string, path: string, body?: object): Message {
  const message = { method, path: `/api/v1${path}`, headers: sessionHeaders(organization.session) };
  return body === undefined ? message : { ...message, body: JSON.stringify(body) };
}
