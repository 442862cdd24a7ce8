// What each kind of hostile client has at hand, and what is kept of what it did.

import type { HttpClient, Message } from '../clients/http-client.ts';
import type { HostileAccount, HostileLine } from '../history.ts';
import type { Random } from '../random.ts';
import type { RawConnection, RawConnections } from './raw-connections.ts';

/** One way to be a nuisance. Each act is short or is held open; docs/chaos.md has a line for each kind. */
export interface AttackKind {
  /** As in the history and the report. */
  name: string;
  /** Acts a second, over all APIs, while the turn of this kind lasts. */
  perSecond: number;
  /** Acts under way at once; those that are due beyond it are left out. */
  atOnceMax: number;
  act(attack: Attack): Promise<void> | void;
}

/** What a turn has done so far; see HostileLine. */
export type AttackCounts = Pick<HostileLine, 'acts' | 'leftOut' | 'bytes' | 'statuses' | 'accepted' | 'unsettled'>;

export function emptyCounts(): AttackCounts {
  return { acts: 0, leftOut: 0, bytes: 0, statuses: {}, accepted: {}, unsettled: {} };
}

/** After this an answer is not waited for. */
const ANSWER_MS_MAX = 10_000;

export class Attack {
  readonly random: Random;
  readonly accounts: readonly HostileAccount[];
  readonly counts: AttackCounts;
  readonly #rawConnections: RawConnections;
  readonly #clients: readonly HttpClient[];

  constructor(
    random: Random,
    accounts: readonly HostileAccount[],
    connections: { rawConnections: RawConnections; clients: readonly HttpClient[] },
    counts: AttackCounts,
  ) {
    this.random = random;
    this.accounts = accounts;
    this.counts = counts;
    this.#rawConnections = connections.rawConnections;
    this.#clients = connections.clients;
  }

  pickAccount(): HostileAccount {
    return this.random.pick(this.accounts);
  }

  /** A connection to one of the APIs; undefined while too many are open. */
  connect(options: { reads?: boolean } = {}): RawConnection | undefined {
    const connection = this.#rawConnections.open({
      reads: options.reads ?? true,
      onStatus: (status) => this.#count(status),
      onBytes: (bytes) => (this.counts.bytes += bytes),
    });
    if (connection === undefined) this.counts.leftOut += 1;
    return connection;
  }

  /** Sends a message over a kept connection and waits for its answer, as a client that means well would. */
  async ask(message: Message): Promise<{ status: number; text: string }> {
    this.counts.bytes += message.body?.length ?? 0;
    const answer = await this.random.pick(this.#clients).attempt(message, ANSWER_MS_MAX);
    const asked = 'status' in answer ? answer : { status: 0, text: '' };
    this.#count(asked.status);
    return asked;
  }

  /** So many events of this account were accepted, and of so many more nobody knows. */
  settle({ index }: HostileAccount, { accepted = 0, unsettled = 0 }): void {
    this.counts.accepted[index] = (this.counts.accepted[index] ?? 0) + accepted;
    this.counts.unsettled[index] = (this.counts.unsettled[index] ?? 0) + unsettled;
  }

  #count(status: number): void {
    const name = status === 0 ? 'none' : String(status);
    this.counts.statuses[name] = (this.counts.statuses[name] ?? 0) + 1;
  }
}
