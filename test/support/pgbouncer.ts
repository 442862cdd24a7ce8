// A real PgBouncer: one that is installed, else that of Debian's packages, fetched once into the folder of programs. Where neither is to
// be had, the test fails and says how to install one.

import { environmentOf, findProgram, refuseWhatDoesNotRun, type Program } from '@weir/services/find-program';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { findFreePort } from '@weir/services/connection';
import { until } from './harness.ts';
import { PROGRAMS } from './programs-folder.ts';

/** How it gives sessions of Postgres to its clients. */
export type PoolMode = 'session' | 'transaction' | 'statement';

export interface Pgbouncer {
  /** The address of the same database, through it. */
  url: string;
  close(): Promise<void>;
}

/** It does not run as root. */
const NOBODY = 65_534;

/** Stands in front of the Postgres of an address, in this mode. */
export async function openPgbouncer(databaseUrl: string, poolMode: PoolMode): Promise<Pgbouncer> {
  const port = await findFreePort();
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
    env: environmentOf(program),
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
async function findPgbouncer(folder: string): Promise<Program> {
  const found = await findProgram({
    name: 'pgbouncer',
    names: ['pgbouncer'],
    elsewhere: ['/usr/sbin/pgbouncer'],
    packageFolder: 'usr/sbin',
    isWanted: (name) => /^(pgbouncer|lib)/.test(name),
    refuse: refuseWhatDoesNotRun,
    programs: PROGRAMS,
  });
  if (!('path' in found))
    throw new Error(
      `The tests of poolers need PgBouncer: there is none (${found.join('; ')}). "apt-get install pgbouncer" has it.`,
    );
  if (!found.path.startsWith(PROGRAMS)) return found;
  const copy = join(folder, 'program');
  const [unpacked = ''] = relative(PROGRAMS, found.path).split(sep);
  await cp(join(PROGRAMS, unpacked), copy, { recursive: true, verbatimSymlinks: true });
  const moved = (path: string) => join(copy, relative(join(PROGRAMS, unpacked), path));
  return { path: moved(found.path), libraryFolders: found.libraryFolders.map(moved) };
}
