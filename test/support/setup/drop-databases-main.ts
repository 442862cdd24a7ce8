// Run as a process of its own when the tests are stopped. Arguments: the admin's address, and the template of the run.

import { dropDatabases } from './drop-databases.ts';

const [adminUrl = '', templateDatabase = ''] = process.argv.slice(2);
await dropDatabases(adminUrl, templateDatabase);
