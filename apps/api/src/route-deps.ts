import type { Database } from '@weir/db/database';
import type { Guards } from './access/authenticate.ts';

/** What every group of routes needs: where it reads and writes, and who may ask. */
export interface RouteDeps {
  database: Database;
  guards: Guards;
}
