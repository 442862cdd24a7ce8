// The browser of the tests: a real Chromium. CHROME_PATH names one; else one that is installed is taken; else that of
// Debian's packages is fetched into the folder of programs, once. Where none of it works, the test fails and says how to
// install one.

import { environmentOf, findProgram, refuseWhatDoesNotRun } from '@weir/services/find-program';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROGRAMS } from '../programs-folder.ts';

interface ChromiumProgram {
  path: string;
  env: NodeJS.ProcessEnv;
}

/** In the order they are looked for, here and in packages. The headless shell is the whole engine without the windows around it. */
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

/** Throws, with the one line that installs a browser, where there is none and none can be fetched. */
export async function findChromium(): Promise<ChromiumProgram> {
  const chosen = process.env['CHROME_PATH'];
  if (chosen !== undefined && chosen !== '') {
    if ((await refuseWhatDoesNotRun({ path: chosen, libraryFolders: [] })) === undefined)
      return { path: chosen, env: process.env };
    throw new Error(`CHROME_PATH is ${chosen}, which does not run.`);
  }
  const found = await findProgram({
    name: 'chromium',
    names: installedNames,
    elsewhere: installedApps,
    packageFolder: 'usr/lib/chromium',
    isWanted: (name) => /^(chromium|lib|fonts?-|fontconfig)/.test(name),
    refuse: refuseWhatDoesNotRun,
    programs: PROGRAMS,
    onFetch: () =>
      console.log('No Chromium here; fetching the one of this system’s packages (once, nothing is installed) …'),
  });
  if (!('path' in found))
    throw new Error(
      `The tests of the console need Chromium: there is none (${found.join('; ')}). Install it with "apt-get install -y ` +
        '--no-install-recommends chromium", or set CHROME_PATH to a Chromium or Chrome.',
    );
  const env = { ...environmentOf(found) };
  const folder = join(found.path, '../../../..');
  // A system without fonts has no settings for them either: those of the packages name folders that do not exist here.
  if (folder.startsWith(PROGRAMS) && (await exists(join(folder, 'etc', 'fonts', 'fonts.conf')))) {
    env['FONTCONFIG_FILE'] = join(folder, 'fonts.conf');
    await writeFile(env['FONTCONFIG_FILE'], fontSettings(folder));
  }
  return { path: found.path, env };
}

function fontSettings(folder: string): string {
  const folders = [join(folder, 'usr', 'share', 'fonts'), '/usr/share/fonts'].map((each) => `<dir>${each}</dir>`);
  return `<?xml version="1.0"?><fontconfig>${folders.join('')}<cachedir>${folder}/font-cache</cachedir></fontconfig>\n`;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
