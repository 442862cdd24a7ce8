import { readFileSync } from 'node:fs';

/** The build that runs here. */
export interface Build {
  version: string;
  /** Of Node. */
  node: string;
  /** The commit that it was built from; `unknown` where the build did not say. */
  revision: string;
}

/** The version stands in the package.json of the whole, the commit in `dist/revision`, where services/write-revision.mjs puts it. */
export function readBuild(): Build {
  // The same relative path from `src` and from `dist`.
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return { version, node: process.version, revision: readRevision() };
}

/** What runs from `src` was not built: no commit is said of it. */
function readRevision(): string {
  try {
    return readFileSync(new URL('./revision', import.meta.url), 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
