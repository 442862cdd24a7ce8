import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Returns why a file cannot be written, as long before it is as an option is read; undefined where it can, by all that is known then. */
export function problemOfFile(path: string): string | undefined {
  try {
    const isThere = existsSync(path);
    if (isThere && statSync(path).isDirectory()) return 'cannot be written: it is a folder';
    // With the dot it has to be a folder.
    accessSync(isThere ? path : `${dirname(resolve(path))}/.`, constants.W_OK);
    return undefined;
  } catch (error) {
    return `cannot be written: ${(error as Error).message}`;
  }
}
