// The font of the console, as it is built: it goes by what is in it, and has what its style sheets ask for.

import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';

const consoleFolder = new URL('../../apps/console/', import.meta.url);
const ofConsole = createRequire(new URL('package.json', consoleFolder));
const assets = new URL('dist/assets/', consoleFolder);

/** The file of the font, and all style sheets. */
async function readBuilt(): Promise<{ name: string; font: Buffer; styles: string }> {
  const names = await readdir(assets);
  const fonts = names.filter((name) => name.endsWith('.woff2'));
  expect(fonts).toHaveLength(1);
  const [name = ''] = fonts;
  const sheets = names.filter((each) => each.endsWith('.css'));
  const styles = await Promise.all(sheets.map((sheet) => readFile(new URL(sheet, assets), 'utf8')));
  return { name, font: await readFile(new URL(name, assets)), styles: styles.join('\n') };
}

/** How the console's bundler names a file of these contents. */
async function nameOf(contents: Buffer, name: string): Promise<string> {
  const { build } = (await import(ofConsole.resolve('vite'))) as {
    build: (config: object) => Promise<{ output: { fileName: string }[] }>;
  };
  const plugin = {
    name: 'one-file',
    resolveId: (id: string) => (id === 'none' ? id : null),
    load(this: { emitFile: (file: object) => void }, id: string) {
      if (id !== 'none') return null;
      this.emitFile({ type: 'asset', name, source: contents });
      return '';
    },
  };
  const quiet = { configFile: false, root: new URL('.', import.meta.url).pathname, logLevel: 'silent' };
  const { output } = await build({
    ...quiet,
    plugins: [plugin],
    build: { write: false, rolldownOptions: { input: 'none' } },
  });
  return output.map(({ fileName }) => fileName).find((each) => each.endsWith('.woff2')) ?? '';
}

test('the file of the font is named by what is in it: browsers keep it for a year', async () => {
  const { name, font } = await readBuilt();
  const plain = name.replace(/-[\w-]{8}\.woff2$/, '.woff2');
  expect(`assets/${name}`).toBe(await nameOf(font, plain));
});

test('the font has every feature that a style sheet asks for', async () => {
  const { font, styles } = await readBuilt();
  const { create } = ofConsole('fontkit') as { create: (bytes: Buffer) => { availableFeatures: string[] } };
  const asked = [...styles.matchAll(/font-feature-settings:([^;}]+)/g)].flatMap(([, settings = '']) =>
    [...settings.matchAll(/["'](\w{4})["']/g)].map(([, feature = '']) => feature),
  );
  expect(styles).toContain('tabular-nums');
  const { availableFeatures } = create(font);
  expect(['tnum', ...asked].filter((feature) => !availableFeatures.includes(feature))).toEqual([]);
});
