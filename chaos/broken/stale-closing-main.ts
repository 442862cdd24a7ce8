// Loaded before a worker (`node --import`): the record statement reads what is closed in its own snapshot, behind no lock. An event
// that it records while an organization is closed is neither in the usage that the closing sees nor late for it. The judge has to
// find the invoices that this makes wrong. A second of sleep between that reading and the first row widens the time in which a
// closing can come; it makes nothing wrong by itself: with it behind the locks, nothing is found.

import { replaceQueries } from './replace-query.ts';

const READ_LOCKED = 'FROM closings_of($2::uuid[], $11::uuid[])';
// What the function is asked besides, whether its caller knows how meters are grouped now, is not what is broken here.
const READ_STALE =
  'FROM closings, pg_sleep(1), (SELECT refuse_old_knowledge($2::uuid[], $11::uuid[])) AS known WHERE organization_id = ANY ($2::uuid[])';

replaceQueries((text, name) => {
  if (name === undefined || !/^record(-groups)?(-watched)?$/.test(name)) return undefined;
  const changed = text.replace(READ_LOCKED, READ_STALE);
  // A run of what was not broken would find nothing, and prove nothing.
  if (changed === text) throw new Error('the broken build does not know the record statement any more');
  return changed;
});
