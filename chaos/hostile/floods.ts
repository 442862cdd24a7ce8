// Clients that wait for their answers, and ask for too much: keys, elements, look-ups, buckets, passwords.

import { randomUUID } from 'node:crypto';
import type { Message } from '../clients/http-client.ts';
import type { HostileAccount } from '../history.ts';
import type { Attack, AttackKind } from './attack.ts';
import {
  BATCH_EVENTS,
  batchMessage,
  bucketsMessage,
  heavyBatches,
  loginMessage,
  newEvent,
  readMessages,
  trackMessage,
  unknownApiKey,
} from './messages.ts';

const keys: AttackKind = {
  name: 'flood of keys',
  perSecond: 2,
  atOnceMax: 4,
  act: (attack) => {
    const account = attack.pickAccount();
    return trackMany(attack, account, batchMessage(account, eventsOf(account.meterToken)));
  },
};

const heavyOf = new WeakMap<HostileAccount, Message[]>();

const metadata: AttackKind = {
  name: 'heavy metadata',
  perSecond: 0.5,
  atOnceMax: 2,
  act: (attack) => {
    const [account] = attack.accounts;
    if (account === undefined) return undefined;
    const batches = heavyOf.get(account) ?? heavyBatches(account);
    heavyOf.set(account, batches);
    return trackMany(attack, account, attack.random.pick(batches));
  },
};

const unknownTokens: AttackKind = {
  name: 'unknown meter tokens',
  perSecond: 20,
  atOnceMax: 20,
  act: async (attack) => {
    const account = attack.pickAccount();
    // One in ten is a batch, each of whose events has a token of its own.
    if (attack.random.chance(0.9)) await attack.ask(trackMessage(account, randomUUID()));
    else await trackMany(attack, account, batchMessage(account, eventsOf()));
  },
};

const unknownKeys: AttackKind = {
  name: 'unknown API keys',
  perSecond: 50,
  atOnceMax: 50,
  act: async (attack) => {
    const account = attack.pickAccount();
    const message = attack.random.chance(0.5) ? trackMessage(account) : readMessages(account)[0];
    if (message !== undefined) await attack.ask({ ...message, headers: { 'x-api-key': unknownApiKey() } });
  },
};

/** Four at a time, each asking again as soon as it has its answer. */
const buckets: AttackKind = {
  name: 'widget with 10,000 buckets',
  perSecond: 100,
  atOnceMax: 4,
  act: async (attack) => {
    await attack.ask(bucketsMessage(attack.pickAccount()));
  },
};

const LOGINS_AT_ONCE = 10;

const logins: AttackKind = {
  name: 'login crowd',
  perSecond: 1,
  atOnceMax: 2,
  act: async (attack) => {
    const { email, password } = attack.pickAccount();
    const crowd = Array.from({ length: LOGINS_AT_ONCE }, (_, index) => {
      if (index % 2 === 0) return loginMessage(email, password);
      return loginMessage(`${randomUUID()}@example.com`, 'a password that nobody has');
    });
    await Promise.all(crowd.map((message) => attack.ask(message)));
  },
};

/** A batch for this token, or each event for one that nobody has. */
function eventsOf(token?: string): string[] {
  return Array.from({ length: BATCH_EVENTS }, () => newEvent(token ?? randomUUID()));
}

/** Sends a batch and keeps how many of its events were accepted, as the judge counts them. */
async function trackMany(attack: Attack, account: HostileAccount, message: Message): Promise<void> {
  const { status, text } = await attack.ask(message);
  attack.settle(account, settledOf(status, text));
}

interface Item {
  status?: number;
  outcome?: string;
}

/** What an answer says of a batch of {@link BATCH_EVENTS}: an item that was neither accepted nor refused is not settled. */
export function settledOf(status: number, text: string): { accepted: number; unsettled: number } {
  if (status === 201 || status === 207) {
    const { data } = JSON.parse(text) as { data: Item[] };
    return {
      accepted: data.filter((item) => item.status === 201).length,
      unsettled: data.filter((item) => (item.status ?? 0) >= 500).length,
    };
  }
  const isRefused = (status >= 400 && status < 500) || (status === 503 && outcomeOf(text) === 'not_accepted');
  return { accepted: 0, unsettled: isRefused ? 0 : BATCH_EVENTS };
}

function outcomeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as Item).outcome;
  } catch {
    return undefined;
  }
}

export const FLOODS: readonly AttackKind[] = [keys, metadata, unknownTokens, unknownKeys, buckets, logins];
