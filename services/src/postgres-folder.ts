import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isCode } from './processes.ts';
import { type User, run } from './run.ts';

/** Where things go that another user has to reach when the home cannot be entered by it. */
const sharedFolder = '/var/lib/weir';

/** In a folder there: the path of the home that it is of. */
const homeFile = 'home';

/** In a home: the path of its folder there. */
const pointerFile = 'postgres-folder';

/** Where Postgres keeps its things, and as whom it runs; no user means: as ourselves. */
export interface PostgresFolder {
  folder: string;
  user: User | undefined;
}

/**
 * Settles where Postgres keeps its data: `postgres` in the home. Postgres refuses to run as root, so root starts it
 * as another user, and when that user cannot get into the home the data goes to /var/lib/weir, into a folder made for
 * this home; the file `postgres-folder` in the home then holds the path, and is obeyed from then on, whoever starts
 * Weir. Throws when no user is fit, rather than to start with empty data where there is some that cannot be reached,
 * and where the folder is that of another home.
 */
export async function settlePostgresFolder(home: string, log: (line: string) => void): Promise<PostgresFolder> {
  const pointer = join(home, pointerFile);
  const inHome = join(home, 'postgres');
  const kept = await readPointer(pointer);
  const folder = kept ?? inHome;
  const user = await findUser(folder);
  const isNew = kept !== undefined && (await refuseOfAnother(home, kept));
  await prepare(folder, user);
  if (isNew) await writeFile(join(folder, homeFile), home);
  if (user === undefined || (await canEnter(user, folder))) return { folder, user };

  if (await exists(join(folder, 'data'))) {
    throw new Error(
      `The data of Postgres is in ${folder}, which the user it runs as (uid ${user.uid}) cannot enter. Make the folders above it passable: chmod o+x.`,
    );
  }
  await mkdir(sharedFolder, { recursive: true, mode: 0o755 });
  // A new one each time: a home that was removed and made anew at the same path has none of its former data.
  const elsewhere = await mkdtemp(join(sharedFolder, `${nameOf(home)}-`));
  await writeFile(join(elsewhere, homeFile), home);
  await prepare(elsewhere, user);
  if (!(await canEnter(user, elsewhere))) {
    await rm(elsewhere, { recursive: true });
    throw new Error(`Postgres cannot run as root, and uid ${user.uid} can enter neither ${home} nor ${elsewhere}.`);
  }
  await writeFile(pointer, `${elsewhere}\n`);
  log(`Only root can enter ${home}, and Postgres must not run as root: its data is in ${elsewhere}.`);
  return { folder: elsewhere, user };
}

/**
 * A folder for programs that `user` has to run: `folder` itself when the user can enter it, else one under
 * /var/lib/weir. Unlike data it can be made again at any time, so nothing needs to remember it.
 */
export async function settleProgramFolder(folder: string, user: User | undefined): Promise<string> {
  await mkdir(folder, { recursive: true });
  if (user === undefined || (await canEnter(user, folder))) return folder;
  const elsewhere = join(sharedFolder, 'programs');
  await mkdir(elsewhere, { recursive: true, mode: 0o755 });
  return elsewhere;
}

/** The folder outside the home, when there is one: whoever removes a home for good removes this too. */
export async function readPostgresPointer(home: string): Promise<string | undefined> {
  return readPointer(join(home, pointerFile));
}

async function readPointer(pointer: string): Promise<string | undefined> {
  try {
    return (await readFile(pointer, 'utf8')).trim() || undefined;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * A home that was copied points to the data of the first one; two Postgres on it would fight. One that was moved takes it along, also where a
 * link, or a mount, leads to it from its former place. Returns whether the folder does not say yet that it is of this home.
 */
async function refuseOfAnother(home: string, folder: string): Promise<boolean> {
  const owner = await readPointer(join(folder, homeFile));
  if (owner === home) return false;
  // Weir 1.0.0 named folders by their homes alone, and wrote nothing into them: of one that is of another path nobody knows who has it by now.
  if (owner === undefined) {
    if (basename(folder) === nameOf(home)) return true;
    throw new Error(
      `The data of Postgres in ${folder} was made for a home at another path. If that one was moved to ${home}: echo '${home}' > ${folder}/${homeFile}. If ${home} is a copy of it, set WEIR_HOME to an empty folder.`,
    );
  }
  if (await isSameFile(join(owner, pointerFile), join(home, pointerFile))) return true;
  if ((await readPointer(join(owner, pointerFile)).catch(() => undefined)) !== folder) return true;
  throw new Error(
    `${home} is a copy of ${owner}, whose data of Postgres is in ${folder}. Set WEIR_HOME to ${owner}, or to an empty folder to begin without data.`,
  );
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

/** Data that exists can only be used by its owner; new data is for the system's `postgres`, else for `nobody`. */
async function findUser(folder: string): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const data = await stat(join(folder, 'data')).catch(() => undefined);
  if (data !== undefined && data.uid !== 0) return { uid: data.uid, gid: data.gid };
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name], { seconds: 10 })));
    if (uid?.ok && gid?.ok) return { uid: Number(uid.output), gid: Number(gid.output) };
  }
  throw new Error(
    'Postgres cannot run as root, and there is no user "postgres" or "nobody" here. Run Weir as an ordinary user, or set DATABASE_URL.',
  );
}

async function prepare(folder: string, user: User | undefined): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o700).catch((error: unknown) => {
    if (!isCode(error, 'EPERM')) throw error;
  });
  if (user !== undefined) await chown(folder, user.uid, user.gid);
}

/** Asks the system rather than to add up permission bits: access lists, mounts and namespaces have a say too. */
async function canEnter(user: User, folder: string): Promise<boolean> {
  const { ok } = await run('/bin/sh', ['-c', 'cd -- "$1" && test -x .', 'sh', folder], {
    seconds: 10,
    user,
    cwd: '/',
  });
  return ok;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function nameOf(home: string): string {
  return createHash('sha256').update(home).digest('hex').slice(0, 16);
}
