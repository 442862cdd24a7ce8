import { fileURLToPath } from 'node:url';

/** Where programs that this machine lacks are fetched to, once: `WEIR_HOME`, else `.weir` of the repository. */
export const PROGRAMS = process.env['WEIR_HOME'] || fileURLToPath(new URL('../../.weir', import.meta.url));
