// An archived meter takes no events. But whoever sends one again that was accepted before is told so: the meter may have been archived
// since, and a refusal would have its sender count it once more under another meter.

import type { Candidate } from '@weir/queue/admit';
import type { Holder } from '@weir/queue/claims';
import { isRedisAway, isRefusedByRedis } from '@weir/queue/redis-away';
import { Refusal } from '@weir/shared/errors';
import { IF_RETRIED } from './meter-cache.ts';
import { refusalOfAdmission } from './refusals.ts';

const ARCHIVED = 'The meter is archived and takes no events: make it ACTIVE again, or use another meter.';

/** The refusal of an event of an archived meter, with what it would have been admitted as. */
export class MeterArchived extends Refusal {
  readonly candidate: Candidate;

  constructor(candidate: Candidate) {
    super('meter_archived', candidate.claim === null ? ARCHIVED : ARCHIVED + IF_RETRIED);
    this.candidate = candidate;
  }
}

/** Whose claims the keys of these candidates have, by the candidates' ids. Throws what Redis says. */
export type FindHolders = (candidates: readonly Candidate[]) => Promise<ReadonlyMap<string, Holder>>;

/** Puts in the place of each {@link MeterArchived} whose key is held what admission would have said. The others stay as they are. */
export async function answerRepeats<Each>(
  all: readonly Each[],
  findHolders: FindHolders,
): Promise<readonly (Each | Refusal)[]> {
  const archived = all.filter((each) => each instanceof MeterArchived);
  if (archived.length === 0) return all;
  const held = await holdersOf(archived, findHolders);
  return all.map((each) => {
    const holder = each instanceof MeterArchived ? held.get(each.candidate.id) : undefined;
    if (holder === undefined) return each;
    return refusalOfAdmission(holder === 'revoked' ? { outcome: 'revoked' } : { outcome: 'held', ...holder }) ?? each;
  });
}

async function holdersOf(
  archived: readonly MeterArchived[],
  findHolders: FindHolders,
): Promise<ReadonlyMap<string, Holder>> {
  try {
    return await findHolders(archived.map(({ candidate }) => candidate));
  } catch (error) {
    // They say by themselves where to look.
    if (isRedisAway(error) || isRefusedByRedis(error)) return new Map();
    throw error;
  }
}
