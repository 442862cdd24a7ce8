import { dateIn } from '../text/instants.ts';

/**
 * The day from which a first subscription bills what was counted already: that of the event, and none before this month. Who
 * imports the usage of a year would have a click issue its invoices: the form of subscriptions says first what a start in the
 * past comes to.
 */
export function firstStart(event: Date, zone: string, now = new Date()): string {
  const month = `${dateIn(zone, now).slice(0, 7)}-01`;
  const day = dateIn(zone, event);
  return day < month ? month : day;
}
