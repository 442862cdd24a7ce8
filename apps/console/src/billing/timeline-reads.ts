// What the timeline of a subscription reads: its periods, its invoices, what was changed, and the names of the plans in all that.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, send, type Answer, type Schema } from '../api/client.ts';
import { readPages } from '../api/pages.ts';
import { problemOf } from '../api/problem.ts';

type Period = Answer<'/api/v1/subscriptions/{id}/periods'>['data'][number];

/** As many of each as one reads through, and as many more each time that older ones are asked for. */
const PERIODS_BEFORE = 6;
const INVOICES = 12;
const CHANGES = 20;

const PERIODS_AHEAD = 3;

/** All of it is of one moment. */
export interface Timeline {
  now: string;
  subscription: Schema<'Subscription'>;
  /** The last that have begun, the one before these, and those to come. */
  periods: { begun: Period[]; before: Period | undefined; ahead: Period[] };
  invoices: Schema<'Invoice'>[];
  changes: Schema<'AuditEntry'>[];
  /** Of what there are older ones. */
  leftOut: string[];
  /** For how many days changes are kept, where it is older than that and older changes would stand here. */
  keptDays: number | undefined;
  /** Of plans that are there, by their ids. */
  plans: ReadonlyMap<string, string>;
}

/** `steps` is how often older ones were asked for. */
export function useTimeline(subscription: Schema<'Subscription'>, steps: number) {
  const { id, status, plan_id, pending_plan_id, current_period_start, cancel_at_period_end, ended_at } = subscription;
  // With any of these the periods, the invoices and the changes are others.
  const state = { status, plan_id, pending_plan_id, current_period_start, cancel_at_period_end, ended_at };
  return useQuery({
    queryKey: ['/api/v1/subscriptions/{id}', 'timeline', id, state, steps],
    queryFn: ({ signal }) => readTimeline(subscription, steps + 1, signal),
    placeholderData: keepPreviousData,
  });
}

async function readTimeline(
  subscription: Schema<'Subscription'>,
  times: number,
  signal: AbortSignal,
): Promise<Timeline> {
  const { id } = subscription;
  let kept: number | null = null;
  const [{ data }, invoices, changes] = await Promise.all([
    send(
      client.GET('/api/v1/subscriptions/{id}/periods', {
        params: { path: { id }, query: { count: PERIODS_AHEAD } },
        signal,
      }),
    ),
    readPages(
      (part) => {
        const query = { ...part, subscription_id: id };
        return send(client.GET('/api/v1/invoices', { params: { query }, signal }));
      },
      times * INVOICES + 1,
    ),
    readPages(
      async (part) => {
        const query = { ...part, resource_id: id };
        const page = await send(client.GET('/api/v1/audit-log', { params: { query }, signal }));
        kept = page.kept_days;
        return page;
      },
      times * CHANGES + 1,
    ),
  ]);
  const now = new Date().toISOString();
  const all = data.filter(({ period_start: start }) => start <= now);
  const first = Math.max(all.length - times * PERIODS_BEFORE, 0);
  const shown = {
    periods: { begun: all.slice(first), before: all[first - 1], ahead: data.slice(all.length) },
    invoices: invoices.slice(0, times * INVOICES),
    changes: changes.slice(0, times * CHANGES),
  };
  return {
    now,
    subscription,
    ...shown,
    leftOut: [
      ...(first > 0 ? ['periods'] : []),
      ...(invoices.length > shown.invoices.length ? ['invoices'] : []),
      ...(changes.length > shown.changes.length ? ['changes'] : []),
    ],
    keptDays: changes.length === shown.changes.length ? daysBehind(subscription.created_at, kept) : undefined,
    plans: await readPlanNames(subscription, shown, signal),
  };
}

const DAY_MS = 86_400_000;

/** How many days changes are kept, where something was there before them. */
function daysBehind(madeAt: string, keptDays: number | null): number | undefined {
  return keptDays !== null && Date.parse(madeAt) < Date.now() - keptDays * DAY_MS ? keptDays : undefined;
}

async function readPlanNames(
  { plan_id: current, plan_name: name, pending_plan_id: next }: Schema<'Subscription'>,
  { periods: { begun, before }, changes }: Pick<Timeline, 'periods' | 'changes'>,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const ofChanges = changes.map((entry) => planOf(entry));
  const ids = [next, before?.plan_id, ...begun.map(({ plan_id: id }) => id), ...ofChanges];
  const others = new Set(ids.filter((id) => typeof id === 'string'));
  others.delete(current);
  const named = await Promise.all(
    [...others].map(async (id): Promise<[string, string][]> => {
      try {
        const plan = await send(client.GET('/api/v1/plans/{id}', { params: { path: { id } }, signal }));
        return [[id, plan.name]];
      } catch (error) {
        if (problemOf(error).code !== 'not_found') throw error;
        return [];
      }
    }),
  );
  return new Map([[current, name], ...named.flat()]);
}

/** The plan that a change names. */
export function planOf({ changes }: Schema<'AuditEntry'>): string | undefined {
  const id = changes?.['plan_id'];
  return typeof id === 'string' ? id : undefined;
}
