import type { Micros } from '@weir/shared/instant';
import { addDays, dateOf, firstInstantOfDate } from './local-date.ts';

/**
 * When a trial ends: at the first instant of the date that is `trialDays` after that of the start. Without trial days there
 * is no trial, and it is the start. Throws on an unknown zone.
 */
export function trialEnd(timeZone: string, startsAt: Micros, trialDays: number): Micros {
  if (trialDays <= 0) return startsAt;
  return firstInstantOfDate(timeZone, addDays(dateOf(timeZone, startsAt), trialDays));
}
