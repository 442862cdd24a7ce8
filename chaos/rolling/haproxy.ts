// The HAProxy of deploy/haproxy-servers.cfg, in front of APIs of this machine: one that is installed, else that of Debian's packages.

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
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Haproxy {
  url: string;
  close(): Promise<void>;
}

interface Program {
  path: string;
  env: NodeJS.ProcessEnv;
}

/** Starts it with the file that those have who run Weir without Docker; only the addresses are others. */
export async function openHaproxy(
  root: string,
  folders: { programs: string; work: string },
  port: number,
  apiPorts: readonly number[],
): Promise<Haproxy> {
  const servers = apiPorts.map((each, index) => `  server api${index + 1} 127.0.0.1:${each}\n`).join('');
  const text = (await readFile(join(root, 'deploy/haproxy-servers.cfg'), 'utf8'))
    .replace(/^ {2}log \/dev\/log.*$/m, '  log 127.0.0.1:514 local0 notice')
    .replace(/^ {2}bind :80$/m, `  bind 127.0.0.1:${port}`)
    .replaceAll(/( {2}server .*\n)+/g, servers);
  const file = join(folders.work, 'haproxy.cfg');
  await writeFile(file, text);
  const { path, env } = await findProgram(folders.programs);
  const child = spawn(path, ['-db', '-f', file], { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  process.once('exit', () => child.kill('SIGKILL'));
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function findProgram(programs: string): Promise<Program> {
  for (const path of [...(await findOnPath(['haproxy'])), '/usr/sbin/haproxy'])
    if ((await run(path, ['-v'], { seconds: 20 })).ok) return { path, env: process.env };
  const unpacked = join(programs, `haproxy-${process.arch}`);
  if (!(await isUsable(unpacked)) && (await canFetchPackages())) {
    await mkdir(programs, { recursive: true });
    const isWanted = (name: string) => /^(haproxy|lib)/.test(name);
    await fetchPackages({ names: ['haproxy'], isWanted, folder: programs, unpacked, isUsable });
  }
  if (!(await isUsable(unpacked))) throw new Error('There is no HAProxy: "apt-get install haproxy" has it.');
  return { path: programIn(unpacked), env: environmentFor(await findLibraryFolders(unpacked)) };
}

const programIn = (folder: string): string => join(folder, 'usr', 'sbin', 'haproxy');

async function isUsable(folder: string): Promise<boolean> {
  const env = environmentFor(await findLibraryFolders(folder));
  return (await run(programIn(folder), ['-v'], { seconds: 20, env })).ok;
}
