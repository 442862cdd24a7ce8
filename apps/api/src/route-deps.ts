import type { Database } from '@weir/db/database';
import type { Guards } from './access/authenticate.ts';

/** Needed by every group of routes: where it reads and writes, and who may ask. */
export interface RouteDeps {
  database: Database;
  guards: Guards;
}
