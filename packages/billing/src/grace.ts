import { isoOf, microsOfText, type Micros } from '@weir/shared/instant';
import { HOUR } from '@weir/shared/time-zone';

/** Settings of a draft that is made now. */
export interface Drafting {
  now: Micros;
  graceHours: number;
  isManual: boolean;
}

/** When the grace of a draft is over: it begins at the boundary, or when the draft is made where that is later. */
export function graceEnd(boundary: string, { now, graceHours }: Pick<Drafting, 'now' | 'graceHours'>): string {
  return isoOf(Math.max(microsOfText(boundary), now) + graceHours * HOUR);
}
