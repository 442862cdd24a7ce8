import { readFileSync } from 'node:fs';

/** The build that runs here. */
export interface Build {
  version: string;
  /** Of Node. */
  node: string;
  /** The commit that it was built from; `unknown` where the build did not say. */
  revision: string;
}

/** The version stands in the package.json of the whole, and so does the commit (`gitHead`, as npm has it) where a build puts it. */
export function readBuild(): Build {
  // The same relative path from `src` and from `dist`.
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const { version, gitHead } = JSON.parse(text) as { version: string; gitHead?: string };
  return { version, node: process.version, revision: gitHead ?? 'unknown' };
}
