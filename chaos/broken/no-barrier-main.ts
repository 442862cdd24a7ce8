// Loaded before the API and the workers (`node --import`): who finds that Postgres has something already does not wait for the standby, which
// may not have it. The judge has to find what is gone after a promotion.

import { replaceQueries } from './replace-query.ts';

replaceQueries((text) => (text.includes('pg_logical_emit_message') ? 'SELECT 1' : undefined));
