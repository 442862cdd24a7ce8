import { isForNow } from '../history.ts';
import { Check } from './check.ts';
import type { Facts } from './history-facts.ts';
import type { StateIndex } from './stored-state.ts';

/** A read of something that belongs to another organization, made at the end. */
export interface CrossReading {
  reader: number;
  path: string;
  status: number;
}

/** No organization sees another's rows. */
export function organizationsAreApart(facts: Facts, index: StateIndex, readings: CrossReading[]): Check {
  const check = new Check(
    'isolation',
    'What belongs to another organization is answered 404, and no list holds it; every row belongs to an organization and meter of the run.',
  );
  for (const { organization, subject, status, at } of facts.crossReads) {
    check.examine();
    if (status !== 404 && !isForNow(status))
      check.violate(`organization ${organization} read ${subject} at ${at} ms and was answered ${status}`);
  }
  for (const { reader, path, status } of readings) {
    check.examine();
    if (status !== 404) check.violate(`organization ${reader} read ${path} and was answered ${status}`);
  }
  for (const { organization, status, body, at } of facts.lists) {
    if (status !== 200) continue;
    for (const id of body as string[]) {
      check.examine();
      const event = index.recorded.get(id) ?? index.rejected.get(id);
      if (event !== undefined && event.organization !== organization)
        check.violate(`organization ${organization} was shown ${id} of ${event.organization} at ${at} ms`);
    }
  }
  for (const event of [...index.recorded.values(), ...index.rejected.values()]) {
    if (event.organization === -1 || event.meter === -1) check.violate(`${event.id} belongs to no meter of the run`);
  }
  return check;
}
