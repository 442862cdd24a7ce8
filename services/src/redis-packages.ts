import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Home } from './home.ts';
import { run } from './run.ts';

/** A Redis to run: the program, and where its shared libraries lie when the system does not have them. */
export interface RedisProgram {
  path: string;
  libraryFolders: string[];
}

/** Names of the server, in the order they are looked for. Valkey is the same server under its newer name. */
const serverNames = ['redis-server', 'valkey-server'];

/** `SET … NX GET`, which admits an event exactly once, came with this version. */
const versionMin = 7;

/** In the folder of the unpacked packages. */
const binFolder = join('usr', 'bin');

/**
 * Finds a Redis or Valkey of version 7.0 or newer: on the `PATH`, else among what an earlier call fetched into the
 * home, else from the packages of the distribution (Debian, Ubuntu), which are unpacked there and not installed: no
 * root needed, nothing on the system changes. Throws with the one line that installs Redis where none of this works.
 */
export async function findRedis({ programs, log, signal }: Home): Promise<RedisProgram> {
  const reasons: string[] = [];
  for (const path of await findOnPath()) {
    const program = { path, libraryFolders: [] };
    const version = await readVersion(program);
    if (version !== undefined && version >= versionMin) return program;
    reasons.push(`${path} is ${version === undefined ? 'not usable' : `of version ${version}`}`);
  }
  if (await canUseApt()) {
    const unpacked = join(programs, `redis-${process.arch}`);
    const known = await findUnpacked(unpacked);
    if (known !== undefined) return known;
    log('No Redis here; fetching the one of this system’s packages (once, nothing is installed) …');
    const outcome = await fetchPackages(programs, unpacked, signal);
    const fetched = await findUnpacked(unpacked);
    if (fetched !== undefined) return fetched;
    reasons.push(outcome);
  }
  const found = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
  throw new Error(`Weir needs Redis ${versionMin}.0 or newer and found none${found}. ${adviceFor(process.platform)}`);
}

async function findOnPath(): Promise<string[]> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const paths = serverNames.flatMap((name) => folders.map((folder) => join(folder, name)));
  const usable = await Promise.all(
    paths.map((path) =>
      access(path, constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return paths.filter((_, index) => usable[index]);
}

/** The major version, or `undefined` when the program does not run. */
async function readVersion({ path, libraryFolders }: RedisProgram): Promise<number | undefined> {
  const { ok, output } = await run(path, ['--version'], {
    seconds: 10,
    env: environmentFor(libraryFolders),
  });
  return ok ? parseVersion(output) : undefined;
}

/** The major version in the answer to `--version`: `Redis server v=7.0.15 sha=…` or `Valkey server v=8.1.1 …`. */
export function parseVersion(output: string): number | undefined {
  const [, major] = /\bv=(\d+)\./.exec(output) ?? [];
  return major === undefined ? undefined : Number(major);
}

/** The environment in which a Redis with libraries of its own starts. */
export function environmentFor(libraryFolders: string[]): NodeJS.ProcessEnv {
  if (libraryFolders.length === 0) return process.env;
  const inherited = process.env.LD_LIBRARY_PATH;
  return {
    ...process.env,
    LD_LIBRARY_PATH: [...libraryFolders, ...(inherited ? [inherited] : [])].join(delimiter),
  };
}

async function canUseApt(): Promise<boolean> {
  const needed = [
    ['apt-get', '--version'],
    ['dpkg-deb', '--version'],
  ] as const;
  const answers = await Promise.all(needed.map(([program, flag]) => run(program, [flag], { seconds: 20 })));
  return answers.every(({ ok }) => ok);
}

async function findUnpacked(folder: string): Promise<RedisProgram | undefined> {
  const libraryFolders = await findLibraryFolders(folder);
  for (const name of serverNames) {
    const program = { path: join(folder, binFolder, name), libraryFolders };
    const version = await readVersion(program);
    if (version !== undefined && version >= versionMin) return program;
  }
  return undefined;
}

async function findLibraryFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const folders = entries.filter((entry) => /\.so(\.|$)/.test(entry.name)).map((entry) => entry.parentPath);
  return [...new Set(folders)];
}

/** Returns why there is still no Redis, should there be none. */
async function fetchPackages(folder: string, unpacked: string, signal: AbortSignal | undefined): Promise<string> {
  // A folder of its own and a rename at the end: a fetch that is killed, or another one at the same time, does no harm.
  const work = await mkdtemp(join(folder, 'fetch-'));
  try {
    const options = await aptOptions(work);
    const apt = (seconds: number, args: string[]) =>
      run('apt-get', [...options, ...args], {
        seconds,
        cwd: work,
        env: { ...process.env, LC_ALL: 'C' },
        signal,
      });

    const update = await apt(180, ['update']);
    for (const name of serverNames) {
      const plan = await apt(60, ['install', '--simulate', '--no-install-recommends', name]);
      const packages = packagesToUnpack(plan.output);
      if (!plan.ok || packages.length === 0) continue;
      const download = await apt(300, ['download', ...packages]);
      if (!download.ok) return `its package could not be downloaded: ${lastLine(download.output)}`;
      for (const archive of (await readdir(work)).filter((file) => file.endsWith('.deb'))) {
        const unpack = await run('dpkg-deb', ['-x', archive, 'unpacked'], {
          seconds: 60,
          cwd: work,
          signal,
        });
        if (!unpack.ok) return `its package could not be unpacked: ${lastLine(unpack.output)}`;
      }
      const program = await findUnpacked(join(work, 'unpacked'));
      if (program === undefined) return `the ${name} of this system’s packages is older, or does not run here`;
      await rm(unpacked, { recursive: true, force: true });
      await rename(join(work, 'unpacked'), unpacked);
      return '';
    }
    return update.ok
      ? 'the packages of this system have none'
      : `the lists of packages could not be fetched: ${lastLine(update.output)}`;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** What makes apt work in a folder of ours, with the sources and keys of the system, and leave the system alone. */
async function aptOptions(work: string): Promise<string[]> {
  await mkdir(join(work, 'lists', 'partial'), { recursive: true });
  await mkdir(join(work, 'cache', 'archives', 'partial'), { recursive: true });
  const settings = [
    `Dir::State=${work}`,
    `Dir::State::lists=${join(work, 'lists')}`,
    `Dir::Cache=${join(work, 'cache')}`,
    // As root, apt would download as a user of its own, who cannot reach a home that only root can enter.
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
    'Acquire::Retries=2',
    'Acquire::http::Timeout=30',
    'Acquire::https::Timeout=30',
  ];
  return ['-q', ...settings.flatMap((setting) => ['-o', setting])];
}

/**
 * The packages to unpack, out of what `apt-get install --simulate` would install (`Inst libjemalloc2 (5.3.0-1 …)`):
 * the server and the libraries it lacks. The C library is left out, because programs only run with the one of their
 * own system.
 */
export function packagesToUnpack(simulation: string): string[] {
  const names = [...simulation.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name ?? '');
  return names.filter((name) => /^(redis-|valkey-|lib)/.test(name) && !/^libc(6|-bin)(:|$)/.test(name));
}

/** The one line that helps on a system where Weir cannot get a Redis by itself. */
export function adviceFor(platform: NodeJS.Platform): string {
  const own = 'or set REDIS_URL to one that runs elsewhere.';
  if (platform === 'darwin') return `Install it with "brew install redis", ${own}`;
  if (platform === 'win32') return `Run Weir under WSL, ${own}`;
  return `Install it ("apt install redis-server", "dnf install valkey" or "apk add valkey"), ${own}`;
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
