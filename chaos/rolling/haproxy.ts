// The HAProxy of deploy/haproxy-servers.cfg, in front of APIs of this machine: one that is installed, else that of Debian's packages.

import { environmentOf, findProgram, refuseWhatDoesNotRun, type Program } from '@weir/services/find-program';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Haproxy {
  url: string;
  close(): Promise<void>;
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
  const program = await findHaproxy(folders.programs);
  const child = spawn(program.path, ['-db', '-f', file], { env: environmentOf(program), stdio: 'ignore' });
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

async function findHaproxy(programs: string): Promise<Program> {
  const found = await findProgram({
    name: 'haproxy',
    names: ['haproxy'],
    elsewhere: ['/usr/sbin/haproxy'],
    packageFolder: 'usr/sbin',
    isWanted: (name) => /^(haproxy|lib)/.test(name),
    refuse: (program) => refuseWhatDoesNotRun(program, '-v'),
    programs,
  });
  if ('path' in found) return found;
  throw new Error(`There is no HAProxy (${found.join('; ')}): "apt-get install haproxy" has it.`);
}
