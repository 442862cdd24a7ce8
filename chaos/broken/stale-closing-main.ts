// Loaded before a worker (`node --import`): the record statement reads what is closed in its own snapshot, from before it has its lock. An
// event that it records while an organization is closed is neither in the usage that the closing sees nor late for it. The judge has
// to find the invoices that this makes wrong. A second of sleep between that reading and the lock widens the time in which a closing can
// come; it makes nothing wrong by itself: with the reading behind the lock, nothing is found.

import { replaceQueries } from './replace-query.ts';

const READ_LOCKED = 'FROM closings_of($2::uuid[], $11::uuid[])';
// What the function does besides is not what is broken here: it holds off who groups usage by other keys, and says whether its caller knows
// of these. So it is asked in any case, and after the sleep.
const READ_STALE = `
  FROM (SELECT 1 AS once FROM pg_sleep(1) OFFSET 0) AS slept
  CROSS JOIN LATERAL (SELECT count(*) FROM closings_of($2::uuid[], CASE slept.once WHEN 1 THEN $11::uuid[] END)) AS known
  LEFT JOIN closings ON organization_id = ANY ($2::uuid[]) AND known.count >= 0`;

replaceQueries((text, name) => {
  if (name === undefined || !/^record(-groups)?(-watched)?$/.test(name)) return undefined;
  const changed = text.replace(READ_LOCKED, READ_STALE);
  // A run of what was not broken would find nothing, and prove nothing.
  if (changed === text) throw new Error('the broken build does not know the record statement any more');
  return changed;
});
