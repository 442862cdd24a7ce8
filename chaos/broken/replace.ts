import { register } from 'node:module';
import type { Replacement } from './replace-module.ts';

/**
 * Replaces a module of packages/, such as `queue/admit`, by another one that has the function `name` of it. No file of Weir knows
 * of it. Throws when nothing was replaced: a run that finds nothing would prove nothing.
 */
export async function replaceModule(module: string, by: URL, name: string): Promise<void> {
  const [folder = '', file = ''] = module.split('/');
  const data: Replacement = {
    module: new URL(`../../../packages/${folder}/dist/${file}.js`, import.meta.url).href,
    by: by.href,
  };
  register('./replace-module.js', import.meta.url, { data });
  const [replaced, replacement] = (await Promise.all([import(data.module), import(data.by)])) as Record<
    string,
    unknown
  >[];
  if (replacement?.[name] === undefined || replaced?.[name] !== replacement[name])
    throw new Error(`the broken build could not take the place of ${module}`);
}
