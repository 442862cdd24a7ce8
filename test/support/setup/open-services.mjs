// Run as a process of its own, to be killed: opens services, says where they are, and keeps them.
// Plain JavaScript, since it runs on what is built. Arguments: the home (or --temporary), and where programs are kept.

import { openServices } from '@weir/services/services';
import { openTemporaryServices } from '@weir/services/temporary';

const [home = '', cacheHome = ''] = process.argv.slice(2);
const log = () => {};
const services =
  home === '--temporary'
    ? await openTemporaryServices({ cacheHome, log })
    : await openServices({ home, cacheHome, log });
console.log(JSON.stringify({ ...services, close: undefined }));
// Being the parent of the servers keeps it alive until it is killed.
