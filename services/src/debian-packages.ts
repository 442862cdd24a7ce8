// Programs of the distribution's packages (Debian, Ubuntu) without installing them: they are downloaded with the system's
// own sources and keys, and unpacked into a folder. No root is needed, and nothing on the system changes.

import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './run.ts';

interface PackageRequest {
  /** Names of packages that hold the program, the one to try first in front. */
  names: readonly string[];
  /** Whether a package that an installation would add is to be unpacked. The C library is left out in any case. */
  isWanted(name: string): boolean;
  /** What else holds files of the package of this name, and is unpacked also where it is installed. */
  besides?(name: string): readonly string[];
  /** In here it works, and `unpacked` lies in it too. Has to exist. */
  folder: string;
  /** Where the packages are when it is done. */
  unpacked: string;
  /** Whether the program in this folder runs here. */
  isUsable(folder: string): Promise<boolean>;
  signal?: AbortSignal | undefined;
}

/** Whether this system has what fetching packages takes. */
export async function canFetchPackages(): Promise<boolean> {
  const needed = [
    ['apt-get', '--version'],
    ['dpkg-deb', '--version'],
  ] as const;
  const answers = await Promise.all(needed.map(([program, flag]) => run(program, [flag], { seconds: 20 })));
  return answers.every(({ ok }) => ok);
}

/**
 * Unpacks the first of the packages that this system offers, with the libraries that it lacks. Returns why there is
 * still no program, and an empty text where there is one.
 */
export async function fetchPackages(request: PackageRequest): Promise<string> {
  const { folder, unpacked, signal } = request;
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
    for (const name of request.names) {
      const plan = await apt(60, ['install', '--simulate', '--no-install-recommends', name]);
      const packages = packagesToUnpack(plan.output, request.isWanted, request.besides?.(name));
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
      const isUsable = await request.isUsable(join(work, 'unpacked'));
      if (!isUsable) return `the ${name} of this system’s packages is older, or does not run here`;
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
 * The packages to unpack, out of what `apt-get install --simulate` would install (`Inst libjemalloc2 (5.3.0-1 …)`).
 * The C library is never one of them, because programs only run with the one of their own system. What is needed `besides` a
 * package is one of them also where it is installed.
 */
export function packagesToUnpack(
  simulation: string,
  isWanted: (name: string) => boolean,
  besides: readonly string[] = [],
): string[] {
  const names = [...simulation.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name ?? '');
  const wanted = names.filter((name) => isWanted(name) && !/^libc(6|-bin)(:|$)/.test(name));
  if (wanted.length === 0) return [];
  return [...wanted, ...besides.filter((name) => !wanted.some((other) => other.replace(/:.*/, '') === name))];
}

/** Every folder of unpacked packages that holds shared libraries. */
export async function findLibraryFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const folders = entries.filter((entry) => /\.so(\.|$)/.test(entry.name)).map((entry) => entry.parentPath);
  return [...new Set(folders)];
}

/** Where programs of these names lie on the `PATH`, by name and then by folder, and which of the other paths are programs. */
export async function findInstalled(names: readonly string[], others: readonly string[]): Promise<string[]> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const paths = [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...others];
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

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
