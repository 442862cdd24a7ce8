import { register } from 'node:module';
import type { Replacement } from './replace-module.ts';

/**
 * Replaces a module of packages/, such as `queue/admit`, by another one that has the function `name` of it. No file of Weir knows
 * of it. Throws when nothing was replaced, since a run that finds nothing would prove nothing, and when the other one has not all that
 * the first one has: with it nothing would start.
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
  const original = (await import(`${data.module}?weir`)) as Record<string, unknown>;
  const missing = Object.keys(original).filter((each) => !(each in replacement));
  if (missing.length > 0) throw new Error(`the broken build has no ${missing.join(', ')} of ${module}`);
}
