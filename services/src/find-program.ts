// A program that is installed here, else one of the distribution's packages.

import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { canFetchPackages, fetchPackages, findLibraryFolders, findInstalled } from './debian-packages.ts';
import { run } from './run.ts';

/** A program to run, and where its shared libraries lie when the system does not have them. */
export interface Program {
  path: string;
  libraryFolders: string[];
}

export interface WantedProgram {
  /** Of the folder that what is fetched is kept in. */
  name: string;
  /** What it is called on the `PATH` and in its packages, and what those are called: the one to try first in front. */
  names: readonly string[];
  /** Paths to look at beside the `PATH`. */
  elsewhere?: readonly string[];
  /** Where it lies in the unpacked packages. */
  packageFolder: string;
  /** Whether a package that an installation would add is to be unpacked: its own, and libraries. */
  isWanted(packageName: string): boolean;
  /** Other packages that hold files of the one of this name. */
  besides?(packageName: string): readonly string[];
  /** Why it will not do, such as its version; `undefined` where it will. */
  refuse(program: Program): Promise<string | undefined>;
  /** Where what is fetched is kept, for the next time too. */
  programs: string;
  /** Told before something is fetched. */
  onFetch?(): void;
  signal?: AbortSignal | undefined;
}

/**
 * Finds a program on the `PATH`, else among what an earlier call fetched, else in the packages of the distribution (Debian, Ubuntu),
 * which are unpacked and not installed: no root needed, nothing on the system changes. Returns why there is none, a reason each.
 */
export async function findProgram(wanted: WantedProgram): Promise<Program | readonly string[]> {
  const { names, programs } = wanted;
  const reasons: string[] = [];
  for (const path of await findInstalled(names, wanted.elsewhere ?? [])) {
    const program = { path, libraryFolders: [] };
    const refusal = await wanted.refuse(program);
    if (refusal === undefined) return program;
    reasons.push(`${path} ${refusal}`);
  }
  if (!(await canFetchPackages())) return [...reasons, 'this system has no packages of Debian to take one from'];
  const unpacked = join(programs, `${wanted.name}-${process.arch}`);
  const known = await findUnpacked(wanted, unpacked);
  if (known !== undefined) return known;
  wanted.onFetch?.();
  await mkdir(programs, { recursive: true });
  const outcome = await fetchPackages({
    names,
    isWanted: wanted.isWanted,
    ...(wanted.besides && { besides: wanted.besides }),
    folder: programs,
    unpacked,
    isUsable: async (folder) => (await findUnpacked(wanted, folder)) !== undefined,
    signal: wanted.signal,
  });
  return (await findUnpacked(wanted, unpacked)) ?? [...reasons, outcome];
}

/** The environment in which a program starts, with libraries of its own where it has them. */
export function environmentOf({ libraryFolders }: Program): NodeJS.ProcessEnv {
  if (libraryFolders.length === 0) return process.env;
  const inherited = process.env.LD_LIBRARY_PATH;
  return {
    ...process.env,
    LD_LIBRARY_PATH: [...libraryFolders, ...(inherited ? [inherited] : [])].join(delimiter),
  };
}

/** Refuses a program that does not say its version. */
export async function refuseWhatDoesNotRun(program: Program, flag = '--version'): Promise<string | undefined> {
  const { ok } = await run(program.path, [flag], { seconds: 20, env: environmentOf(program) });
  return ok ? undefined : 'does not run';
}

async function findUnpacked(wanted: WantedProgram, folder: string): Promise<Program | undefined> {
  const libraryFolders = await findLibraryFolders(folder);
  for (const name of wanted.names) {
    const program = { path: join(folder, wanted.packageFolder, name), libraryFolders };
    if ((await wanted.refuse(program)) === undefined) return program;
  }
  return undefined;
}
