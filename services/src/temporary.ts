import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLock } from './lock.ts';
import { stopLeftoverPostgres } from './postgres.ts';
import { readPostgresPointer } from './postgres-folder.ts';
import { stopLeftoverRedis } from './redis.ts';
import { type Services, type ServicesOptions, openServices } from './services.ts';

const namePrefix = 'weir-temporary-';

/**
 * The same as {@link openServices}, in a new home that `close()` removes with everything in it: for tests and
 * measurements. Also clears away the temporary homes, servers included, of processes that were killed before they
 * could.
 */
export async function openTemporaryServices(
  options: Omit<ServicesOptions, 'home'> & { cacheHome: string },
): Promise<Services> {
  await removeAbandonedHomes(tmpdir());
  const home = await mkdtemp(join(tmpdir(), namePrefix));
  await chmod(home, 0o711);
  try {
    const services = await openServices({ ...options, home });
    return {
      ...services,
      close: async () => {
        await services.close();
        await removeHome(home);
      },
    };
  } catch (error) {
    await removeHome(home);
    throw error;
  }
}

async function removeAbandonedHomes(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(namePrefix)) continue;
    const home = join(folder, name);
    // The folder is open to every user of the machine: what others put there is none of our business.
    const owner = await stat(home).then(
      (found) => found.uid,
      () => undefined,
    );
    if (owner !== process.getuid?.() || (await readLock(home)) !== 'abandoned') continue;
    const silent = (): void => {};
    await stopLeftoverRedis(join(home, 'redis'), silent);
    await stopLeftoverPostgres((await readPostgresPointer(home)) ?? join(home, 'postgres'), silent);
    await removeHome(home);
  }
}

async function removeHome(home: string): Promise<void> {
  const outside = await readPostgresPointer(home);
  if (outside !== undefined) await rm(outside, { recursive: true, force: true });
  await rm(home, { recursive: true, force: true });
}
