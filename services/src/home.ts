import { chmod, mkdir, realpath } from 'node:fs/promises';

/** Where the embedded services keep their files, and how they log. */
export interface Home {
  /** Data, passwords and logs; the same folder finds them again. */
  path: string;
  /** Programs that had to be fetched or copied; can be shared by many homes, and made again at any time. */
  programs: string;
  log: (line: string) => void;
  /** Aborted: what takes long is given up. */
  signal: AbortSignal | undefined;
}

/** Makes the folder when it is missing, and returns its true path: the same folder never has two names. */
export async function makeHome(path: string): Promise<string> {
  const made = await mkdir(path, { recursive: true });
  // Passable but not readable for others: as root, Postgres runs as another user and has to get to its data in here.
  if (made !== undefined) await chmod(path, 0o711);
  return realpath(path);
}
