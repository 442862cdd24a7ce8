// The browser of the tests: a real Chromium. CHROME_PATH names one; else one that is installed is taken; else that of
// Debian's packages is fetched into the folder of programs, once. Where none of it works, the test fails and says how to
// install one.

import {
  canFetchPackages,
  environmentFor,
  fetchPackages,
  findLibraryFolders,
  findOnPath,
} from '@weir/services/debian-packages';
import { run } from '@weir/services/run';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ChromiumProgram {
  path: string;
  env: NodeJS.ProcessEnv;
}

/** In the order they are looked for. The headless shell is the whole engine without the windows around it. */
const installedNames = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];
const installedApps = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** What the packages call the program, below the folder that they are unpacked in. */
const packageNames = ['chromium-headless-shell', 'chromium'];

const repositoryHome = fileURLToPath(new URL('../../../.weir', import.meta.url));

/** Throws, with the one line that installs a browser, where there is none and none can be fetched. */
export async function findChromium(): Promise<ChromiumProgram> {
  const chosen = process.env['CHROME_PATH'];
  if (chosen !== undefined && chosen !== '') {
    if (await runs({ path: chosen, env: process.env })) return { path: chosen, env: process.env };
    throw new Error(`CHROME_PATH is ${chosen}, which does not run.`);
  }
  for (const path of [...(await findOnPath(installedNames)), ...installedApps]) {
    const program = { path, env: process.env };
    if (await runs(program)) return program;
  }
  let reason = 'and this system has no packages of Debian to take one from';
  if (await canFetchPackages()) {
    const folder = process.env['WEIR_HOME'] || repositoryHome;
    await mkdir(folder, { recursive: true });
    const unpacked = join(folder, `chromium-${process.arch}`);
    const kept = await findUnpacked(unpacked);
    if (kept !== undefined) return kept;
    console.log('No Chromium here; fetching the one of this system’s packages (once, nothing is installed) …');
    reason = await fetchPackages({
      names: packageNames,
      isWanted: (name) => /^(chromium|lib|fonts?-|fontconfig)/.test(name),
      folder,
      unpacked,
      isUsable: async (fetched) => (await findUnpacked(fetched)) !== undefined,
    });
    const fetched = await findUnpacked(unpacked);
    if (fetched !== undefined) return fetched;
  }
  throw new Error(
    `The tests of the console need Chromium: there is none, ${reason}. Install it with "apt-get install -y ` +
      '--no-install-recommends chromium", or set CHROME_PATH to a Chromium or Chrome.',
  );
}

async function findUnpacked(folder: string): Promise<ChromiumProgram | undefined> {
  const env = { ...environmentFor(await findLibraryFolders(folder)) };
  const fonts = join(folder, 'etc', 'fonts', 'fonts.conf');
  // A system without fonts has no settings for them either: those of the packages name folders that do not exist here.
  if (await exists(fonts)) {
    env['FONTCONFIG_FILE'] = join(folder, 'fonts.conf');
    await writeFile(env['FONTCONFIG_FILE'], fontSettings(folder));
  }
  for (const name of packageNames) {
    const program = { path: join(folder, 'usr', 'lib', 'chromium', name), env };
    if (await runs(program)) return program;
  }
  return undefined;
}

function fontSettings(folder: string): string {
  const folders = [join(folder, 'usr', 'share', 'fonts'), '/usr/share/fonts'].map((each) => `<dir>${each}</dir>`);
  return `<?xml version="1.0"?><fontconfig>${folders.join('')}<cachedir>${folder}/font-cache</cachedir></fontconfig>\n`;
}

async function runs({ path, env }: ChromiumProgram): Promise<boolean> {
  return (await exists(path)) && (await run(path, ['--version'], { seconds: 20, env })).ok;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
