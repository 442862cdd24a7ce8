import { join } from 'node:path';
import {
  canFetchPackages,
  environmentFor,
  fetchPackages,
  findLibraryFolders,
  findOnPath,
} from './debian-packages.ts';
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
  for (const path of await findOnPath(serverNames)) {
    const program = { path, libraryFolders: [] };
    const version = await readVersion(program);
    if (version !== undefined && version >= versionMin) return program;
    reasons.push(`${path} is ${version === undefined ? 'not usable' : `of version ${version}`}`);
  }
  if (await canFetchPackages()) {
    const unpacked = join(programs, `redis-${process.arch}`);
    const known = await findUnpacked(unpacked);
    if (known !== undefined) return known;
    log('No Redis here; fetching the one of this system’s packages (once, nothing is installed) …');
    const outcome = await fetchPackages({
      names: serverNames,
      isWanted: isRedisPackage,
      folder: programs,
      unpacked,
      isUsable: async (folder) => (await findUnpacked(folder)) !== undefined,
      signal,
    });
    const fetched = await findUnpacked(unpacked);
    if (fetched !== undefined) return fetched;
    reasons.push(outcome);
  }
  const found = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
  throw new Error(`Weir needs Redis ${versionMin}.0 or newer and found none${found}. ${adviceFor(process.platform)}`);
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

async function findUnpacked(folder: string): Promise<RedisProgram | undefined> {
  const libraryFolders = await findLibraryFolders(folder);
  for (const name of serverNames) {
    const program = { path: join(folder, binFolder, name), libraryFolders };
    const version = await readVersion(program);
    if (version !== undefined && version >= versionMin) return program;
  }
  return undefined;
}

/**
 * The server and the libraries that it lacks, and nothing that only an installation needs.
 */
export function isRedisPackage(name: string): boolean {
  return /^(redis-|valkey-|lib)/.test(name);
}

/** The one line that helps on a system where Weir cannot get a Redis by itself. */
export function adviceFor(platform: NodeJS.Platform): string {
  const own = 'or set REDIS_URL to one that runs elsewhere.';
  if (platform === 'darwin') return `Install it with "brew install redis", ${own}`;
  if (platform === 'win32') return `Run Weir under WSL, ${own}`;
  return `Install it ("apt install redis-server", "dnf install valkey" or "apk add valkey"), ${own}`;
}
