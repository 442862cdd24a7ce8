import { addMonths, dateOf, firstInstantOfDate } from '@weir/rating/local-date';
import type { Micros } from '@weir/shared/instant';
import { LIMITS } from '@weir/shared/limits';
import { invalidFields } from '../http/problem.ts';

/** Throws a Refusal where the instant of a field is further ahead than anything is agreed. */
export function refuseTooFarAhead(
  path: string,
  at: Micros,
  { now, timeZone }: { now: Micros; timeZone: string },
): void {
  if (at > firstInstantOfDate(timeZone, addMonths(dateOf(timeZone, now), LIMITS.monthsAhead)))
    throw invalidFields([{ path, message: `must be at most ${LIMITS.monthsAhead} months ahead` }]);
}
