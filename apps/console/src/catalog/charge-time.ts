// From when and until when a charge is the price: another one can be announced, which takes its place then.

import type { components } from '../api/openapi.d.ts';
import { formatDate, formatLastDay } from '../text/instants.ts';

type Times = Pick<components['schemas']['Charge'], 'effective_from' | 'ended_at' | 'status' | 'replaces'>;

export const isAnnounced = ({ effective_from }: Pick<Times, 'effective_from'>, now = Date.now()): boolean =>
  Date.parse(effective_from) > now;

/**
 * `until 31 Dec 2026`, its last day, and of the next one `from 1 Jan 2027`; nothing of a price that just holds, or is archived. The zone is
 * that of the organization, in which prices are announced for a day.
 */
export function timeWords(charge: Times, zone: string, now = Date.now()): string | undefined {
  if (charge.status !== 'ACTIVE') return undefined;
  const from = isAnnounced(charge, now) ? `from ${formatDate(charge.effective_from, zone)}` : '';
  const until = charge.ended_at === null ? '' : `until ${formatLastDay(charge.ended_at, zone)}`;
  return `${from} ${until}`.trim() || undefined;
}

/** Whether it is what a plan costs now, or what it will without anything that comes before. */
export function isPresent(charge: Times, now = Date.now()): boolean {
  return charge.status === 'ACTIVE' && !(charge.replaces !== null && isAnnounced(charge, now));
}
