import { environmentOf, findProgram, type Program } from './find-program.ts';
import type { Home } from './home.ts';
import { run } from './run.ts';

/** Names of the server, in the order they are looked for. Valkey is the same server under its newer name. */
const serverNames = ['redis-server', 'valkey-server'];

/**
 * Flags of scripts (note-recorded.lua) and CONFIG GET of several names came with this version. An older one that Weir is given is refused
 * by redis-policy.ts of packages/queue.
 */
const versionMin = 7;

/**
 * Finds a Redis or Valkey of version 7.0 or newer: on the `PATH`, else among what an earlier call fetched into the
 * home, else from the packages of the distribution. Throws with the one line that installs Redis where none of this works.
 */
export async function findRedis({ programs, log, signal }: Home): Promise<Program> {
  const found = await findProgram({
    name: 'redis',
    names: serverNames,
    packageFolder: 'usr/bin',
    isWanted: isRedisPackage,
    besides: toolsOf,
    refuse: refuseVersion,
    programs,
    onFetch: () => log('No Redis here; fetching the one of this system’s packages (once, nothing is installed) …'),
    signal,
  });
  if ('path' in found) return found;
  throw new Error(
    `Weir needs Redis ${versionMin}.0 or newer and found none (${found.join('; ')}). ${adviceFor(process.platform)}`,
  );
}

async function refuseVersion(program: Program): Promise<string | undefined> {
  const { ok, output } = await run(program.path, ['--version'], { seconds: 10, env: environmentOf(program) });
  const version = ok ? parseVersion(output) : undefined;
  if (version === undefined) return 'is not usable';
  return version >= versionMin ? undefined : `is of version ${version}`;
}

/** The major version in the answer to `--version`: `Redis server v=7.0.15 sha=…` or `Valkey server v=8.1.1 …`. */
export function parseVersion(output: string): number | undefined {
  const [, major] = /\bv=(\d+)\./.exec(output) ?? [];
  return major === undefined ? undefined : Number(major);
}

/**
 * The server and the libraries that it lacks, and nothing that only an installation needs.
 */
export function isRedisPackage(name: string): boolean {
  return /^(redis-|valkey-|lib)/.test(name);
}

/** The server is a link to a program of its tools, which are installed where somebody has redis-cli alone. */
export function toolsOf(server: string): string[] {
  return [server.replace(/-server$/, '-tools')];
}

/** The one line that helps on a system where Weir cannot get a Redis by itself. */
export function adviceFor(platform: NodeJS.Platform): string {
  const own = 'or set REDIS_URL to one that runs elsewhere.';
  if (platform === 'darwin') return `Install it with "brew install redis", ${own}`;
  if (platform === 'win32') return `Run Weir under WSL, ${own}`;
  return `Install it ("apt install redis-server", "dnf install valkey" or "apk add valkey"), ${own}`;
}
