// Keeps events away before Redis has to: a Redis that is full refuses the workers too, and then nothing would ever make room.
// It also does when more batches wait than the operator allows, on a Redis that would drop accepted events, and those of an
// organization that has more waiting than leaves room for others. Before any of that, claims give way (room.ts, and let-go.ts of packages/queue).
// What is kept away goes directly to Postgres (direct.ts), and is refused only while Postgres is away.

import type { QueueConnection } from '@weir/queue/connection';
import { letGoOfClaims } from '@weir/queue/let-go';
import type { RedisPolicy } from '@weir/queue/redis-policy';
import { findOrganizationsOver, readRedisState } from '@weir/queue/redis-state';
import { Refusal } from '@weir/shared/errors';
import type { FastifyBaseLogger } from 'fastify';
import { claimSecondsAt, isTimeToLetGo, noRoom, shareOf, waitingBytesMax, type NoRoom } from './room.ts';

const INTERVAL_MS = 1_000;

/** How soon the next look comes when a second would fill more of the memory than this: a small Redis is full within a few. */
const FAST = { intervalMs: 250, sharePerSecond: 0.05 };

const DETAILS: Record<NoRoom | 'policy', string> = {
  policy: 'The queue is not set up to keep events, and nothing was kept: send the event again later.',
  memory: 'The queue is nearly full, and nothing was kept: send the event again later.',
  batches: 'Too many events wait to be recorded, and nothing was kept: send the event again later.',
  share:
    'The queue is short of room, and more events of your organization wait to be recorded than its share of it holds. ' +
    'Nothing was kept: send the event again later.',
};

const FULL: Record<NoRoom, string> = {
  memory: 'Redis is nearly full',
  batches: 'as many batches wait as may (QUEUE_BATCHES_MAX)',
  share: 'an organization has its share waiting',
};

/** What was last seen of Redis, for the metrics. While it is away nobody knows how much waits there, nor how full it is: NaN. */
interface WatchState {
  /** Batches that are staged and not yet recorded. */
  batches: number;
  /** How much of `maxmemory` is in use; 0 without a limit. */
  memoryShare: number;
  /** How long a claim lives that is made now, in seconds. 0: none is made. */
  claimSeconds: number;
  /** Whether Redis is known to have an event on disk before it answers. */
  isSynced: boolean;
  /** When the oldest of these batches was staged, in milliseconds since 1970; undefined when none waits. */
  oldestStagedAt?: number | undefined;
}

const UNSEEN = { batches: NaN, memoryShare: NaN, oldestStagedAt: NaN };

export interface RedisWatchOptions {
  /** How many batches may wait to be recorded. */
  batchesMax: number;
  /** How long a claim lives at most. */
  claimSecondsMax: number;
  onClaimsLetGo: (claims: number) => void;
  /** Called at each look that Redis does not answer, with why. */
  onAway: (because: string) => void;
}

/** Whether Redis may be given events, and how long their claims live. */
export interface RedisWatch {
  /** Whether it may be given those of an organization (null: replayed ones). Costs nothing to ask. */
  hasRoom(organizationId: string | null): boolean;
  /** Why those of an organization may not; undefined when they may. */
  refusal(organizationId: string | null): Refusal | undefined;
  state(): Readonly<WatchState>;
  close(): void;
}

/** Looks at Redis every second, and more often while it fills up fast. */
export function openRedisWatch(queue: QueueConnection, log: FastifyBaseLogger, options: RedisWatchOptions): RedisWatch {
  const { redis } = queue;
  const { batchesMax, claimSecondsMax } = options;
  const state: WatchState = { ...UNSEEN, claimSeconds: claimSecondsMax, isSynced: true };
  let policy: RedisPolicy = {};
  let isUnlimited = false;
  let shutBecause: NoRoom | undefined;
  let overTheirShare: ReadonlySet<string> = new Set();
  let before: { used: number; at: number } | undefined;
  let isFillingFast = false;
  let isLooking = false;
  let isLettingGo = false;
  let isClosed = false;

  const seePolicy = (seen: RedisPolicy) => {
    if (seen.refuse !== policy.refuse) {
      if (seen.refuse !== undefined) log.error({ way: 'direct' }, `events are recorded directly: ${seen.refuse}`);
      else log.info({ way: 'redis' }, 'Redis keeps events again: they go there');
    }
    if (seen.warn !== policy.warn) {
      if (seen.warn !== undefined) log.warn(seen.warn);
      else if (seen.refuse === undefined) log.info('Redis has events on disk before it answers again');
    }
    policy = seen;
    state.isSynced = seen.warn === undefined;
  };
  const seeLimit = (limit: number) => {
    const isSeen = limit === 0;
    if (isSeen && !isUnlimited)
      log.warn(
        'Redis has no maxmemory: nothing gives way before the system ends it for want of memory, so set it below what its machine has',
      );
    isUnlimited = isSeen;
  };
  const seeShares = async (share: number, limit: number) => {
    const bytesMax = waitingBytesMax(share, limit);
    const over = bytesMax === undefined ? new Set<string>() : await findOrganizationsOver(queue, bytesMax);
    if (over.size > 0 !== overTheirShare.size > 0)
      log.warn(
        { organizations: over.size, bytesMax },
        over.size > 0
          ? 'events of organizations with too much waiting are recorded directly'
          : 'no organization has too much waiting',
      );
    overTheirShare = over;
  };
  const letGo = async () => {
    isLettingGo = true;
    try {
      const count = await letGoOfClaims(
        queue,
        () => state.claimSeconds,
        () => isClosed,
      );
      if (count === undefined || count === 0) return;
      options.onClaimsLetGo(count);
      log.info({ claims: count, lifeSeconds: state.claimSeconds }, 'claims were let go of to make room');
      // The door need not stay shut for the rest of a second.
      void look();
    } catch (error) {
      log.warn({ err: error }, 'claims could not be let go of; the next look tries again');
    } finally {
      isLettingGo = false;
    }
  };
  const seeNothing = (because: string) => {
    Object.assign(state, UNSEEN);
    options.onAway(because);
  };
  const look = async () => {
    if (isLooking || isClosed) return;
    if (redis.status !== 'ready') {
      seeNothing('not connected');
      return;
    }
    isLooking = true;
    try {
      const { policy: seen, memory, batches, oldestStagedAt, oldestClaimAt } = await readRedisState(queue);
      seePolicy(seen);
      const { used, limit } = memory;
      seeLimit(limit);
      const share = shareOf(memory);
      // Where it will be a second from now, when it goes on like this.
      const at = performance.now();
      const perSecond =
        before === undefined ? 0 : ((used - before.used) / Math.max(FAST.intervalMs, at - before.at)) * 1000;
      const ahead = share + Math.max(0, shareOf({ used: perSecond, limit }));
      before = { used, at };
      isFillingFast = ahead - share > FAST.sharePerSecond;
      state.memoryShare = share;
      state.batches = batches;
      state.oldestStagedAt = oldestStagedAt;
      state.claimSeconds = claimSecondsAt(ahead, claimSecondsMax);
      const reason = noRoom({ memoryShare: share, batches, batchesMax, wasFull: shutBecause !== undefined });
      if (reason !== shutBecause)
        log.warn(
          { way: reason === undefined ? 'redis' : 'direct', ...state },
          reason === undefined ? 'the queue has room again' : `events are recorded directly: ${FULL[reason]}`,
        );
      shutBecause = reason;
      const oldestSeconds = (Date.now() - oldestClaimAt) / 1000;
      if (!isLettingGo && isTimeToLetGo(state.claimSeconds, Math.min(claimSecondsMax, oldestSeconds))) void letGo();
      await seeShares(share, limit);
    } catch (error) {
      log.warn({ err: error }, 'Redis could not be looked at');
      if (!isClosed) seeNothing(error instanceof Error ? error.message : String(error));
    } finally {
      isLooking = false;
    }
  };
  // Another one may be behind the address now.
  const onReady = () => {
    before = undefined;
    void look();
  };
  redis.on('ready', onReady);
  let timer: NodeJS.Timeout | undefined;
  const lookAgain = async () => {
    await look();
    if (!isClosed) timer = setTimeout(() => void lookAgain(), isFillingFast ? FAST.intervalMs : INTERVAL_MS);
  };
  void lookAgain();

  const reasonFor = (organizationId: string | null): NoRoom | 'policy' | undefined => {
    if (policy.refuse !== undefined) return 'policy';
    if (shutBecause !== undefined) return shutBecause;
    return organizationId !== null && overTheirShare.has(organizationId) ? 'share' : undefined;
  };
  return {
    hasRoom: (organizationId) => reasonFor(organizationId) === undefined,
    refusal(organizationId) {
      const because = reasonFor(organizationId);
      if (because === undefined) return undefined;
      return new Refusal('unavailable', DETAILS[because], { outcome: 'not_accepted', retryAfterSeconds: 5, because });
    },
    state: () => state,
    close() {
      isClosed = true;
      clearTimeout(timer);
      redis.off('ready', onReady);
    },
  };
}
