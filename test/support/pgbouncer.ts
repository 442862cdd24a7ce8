// A real PgBouncer: one that is installed, else that of Debian's packages, fetched once into the folder of programs. Where neither is to
// be had, the test fails and says how to install one.

import {
  canFetchPackages,
  environmentFor,
  fetchPackages,
  findLibraryFolders,
  findOnPath,
} from '@weir/services/debian-packages';
import { run } from '@weir/services/run';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';
import { until } from './harness.ts';

/** How it gives sessions of Postgres to its clients. */
export type PoolMode = 'session' | 'transaction' | 'statement';

export interface Pgbouncer {
  /** The address of the same database, through it. */
  url: string;
  close(): Promise<void>;
}

const repositoryHome = fileURLToPath(new URL('../../.weir', import.meta.url));

/** It does not run as root. */
const NOBODY = 65_534;

/** Stands in front of the Postgres of an address, in this mode. */
export async function openPgbouncer(databaseUrl: string, poolMode: PoolMode): Promise<Pgbouncer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'weir-pgbouncer-'));
  await chmod(folder, 0o755);
  const program = await findPgbouncer(folder);
  const { hostname, port: upstream, username, password } = new URL(databaseUrl);
  const user = decodeURIComponent(username);
  const secret = decodeURIComponent(password);
  const users = join(folder, 'users.txt');
  await writeFile(users, `"${user}" "${secret}"\n`);
  const config = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${upstream || 5432} user=${user}${secret === '' ? '' : ` password=${secret}`}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${users}`,
    `pool_mode = ${poolMode}`,
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  const isRoot = process.getuid?.() === 0;
  const child = spawn(program.path, [config], {
    env: program.env,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const ended = once(child, 'exit');
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`);
    return listens(port);
  }, 'PgBouncer listens');
  const url = new URL(databaseUrl);
  Object.assign(url, { hostname: '127.0.0.1', port: String(port) });
  return {
    url: url.href,
    async close() {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** What was fetched is copied into a folder that whoever runs it can enter. */
async function findPgbouncer(folder: string): Promise<{ path: string; env: NodeJS.ProcessEnv }> {
  for (const path of [...(await findOnPath(['pgbouncer'])), '/usr/sbin/pgbouncer'])
    if ((await run(path, ['--version'], { seconds: 20 })).ok) return { path, env: process.env };
  const programs = process.env['WEIR_HOME'] || repositoryHome;
  const unpacked = join(programs, `pgbouncer-${process.arch}`);
  let reason = 'and this system has no packages of Debian to take one from';
  if (!(await isUsable(unpacked)) && (await canFetchPackages())) {
    await mkdir(programs, { recursive: true });
    const isWanted = (name: string) => /^(pgbouncer|lib)/.test(name);
    reason = await fetchPackages({ names: ['pgbouncer'], isWanted, folder: programs, unpacked, isUsable });
  }
  if (!(await isUsable(unpacked)))
    throw new Error(
      `The tests of poolers need PgBouncer: there is none, ${reason}. "apt-get install pgbouncer" has it.`,
    );
  const copy = join(folder, 'program');
  await cp(unpacked, copy, { recursive: true, verbatimSymlinks: true });
  return { path: programIn(copy), env: environmentFor(await findLibraryFolders(copy)) };
}

const programIn = (folder: string): string => join(folder, 'usr', 'sbin', 'pgbouncer');

async function isUsable(folder: string): Promise<boolean> {
  const env = environmentFor(await findLibraryFolders(folder));
  return (await run(programIn(folder), ['--version'], { seconds: 20, env })).ok;
}
