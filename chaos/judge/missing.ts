// When hostile clients are gone, nothing is missing: no connection, no slot, no memory.

import type { ResourceUsageLine } from '../history.ts';
import { Check } from './check.ts';
import type { Facts } from './history-facts.ts';

const MEGABYTE = 1024 * 1024;

/** Caches and histograms fill for as long as a process is at work. What leaks leaves more than this. */
const USED_MB_MAX = 32;

/** The system gets memory back in pieces, and not every piece is empty. */
const RESIDENT_MB_MAX = 150;

/** Connections to Postgres and Redis come and go: 13 and 3 of an API, a few more of a worker. */
const DESCRIPTORS_MAX = 24;

/** What an event takes in Redis after it is recorded: its claim. */
const CLAIM_BYTES_MAX = 512;
const REDIS_MB_MAX = 32;

/** Hostile clients still hold their end of each connection; the APIs have let go of theirs. */
export function connectionsAreLetGo({ hostile: { letGo } }: Facts): Check {
  const check = new Check(
    'sockets',
    'What hostile clients hold open is let go by the APIs in time, whether the clients let go or not.',
  );
  for (const { process, held, left, afterMs } of letGo) {
    check.examine(Math.max(1, held));
    if (left > 0) check.violate(`${process} still held ${left} of ${held} connections after ${afterMs} ms`);
  }
  return check;
}

export function noSlotIsMissing({ hostile: { slots } }: Facts): Check {
  const check = new Check(
    'slots',
    'Afterwards each API serves as many requests at once, beside tracking, as it is set to.',
  );
  for (const { process, slots: all, served } of slots) {
    check.examine(all);
    if (served < all) check.violate(`${process} served ${served} of ${all} requests at once`);
  }
  return check;
}

export function nothingElseIsMissing(facts: Facts): Check {
  const check = new Check(
    'memory',
    `Afterwards no process uses more than before: within ${USED_MB_MAX} MB in objects and buffers, ${RESIDENT_MB_MAX} MB in all, and ${DESCRIPTORS_MAX} open files; Redis within ${REDIS_MB_MAX} MB and its claims.`,
  );
  const { resourceUsage } = facts.hostile;
  const claimBytes = acceptedIn(facts) * CLAIM_BYTES_MAX;
  for (const after of resourceUsage.filter(({ when }) => when === 'after')) {
    const before = resourceUsage.find(({ when, process }) => when === 'before' && process === after.process);
    if (before === undefined) continue;
    check.examine();
    if (!isBack(before, after, claimBytes))
      check.violate(`${after.process} has ${textOf(after)}, and had ${textOf(before)}`);
  }
  return check;
}

/** Events that may have a claim in Redis. */
function acceptedIn({ keyHistories, hostile }: Facts): number {
  const kept = (counts: Record<number, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0);
  return hostile.turns.reduce(
    (sum, { accepted, unsettled }) => sum + kept(accepted) + kept(unsettled),
    keyHistories.size,
  );
}

/** Whether a process uses no more than before, within bounds. `claimBytes` is what Redis may hold by right. */
export function isBack(before: ResourceUsageLine, after: ResourceUsageLine, claimBytes = 0): boolean {
  const used = after.usedBytes - before.usedBytes;
  if (after.process === 'redis') return used <= claimBytes + REDIS_MB_MAX * MEGABYTE;
  const resident = (after.residentBytes ?? 0) - (before.residentBytes ?? 0);
  const descriptors = (after.descriptors ?? 0) - (before.descriptors ?? 0);
  return used <= USED_MB_MAX * MEGABYTE && resident <= RESIDENT_MB_MAX * MEGABYTE && descriptors <= DESCRIPTORS_MAX;
}

function textOf({ usedBytes, residentBytes, descriptors }: ResourceUsageLine): string {
  const megabytes = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`;
  const parts = [`${megabytes(usedBytes)} in use`];
  if (residentBytes !== undefined) parts.push(`${megabytes(residentBytes)} in all`);
  if (descriptors !== undefined) parts.push(`${descriptors} open files`);
  return parts.join(', ');
}
