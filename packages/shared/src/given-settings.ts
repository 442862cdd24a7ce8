import { readFileSync } from 'node:fs';

/** The environment of a process. */
export type Env = Record<string, string | undefined>;

/** What is given for some settings: their values, and by the name of a setting what is wrong with how it is given. */
export interface GivenSettings {
  values: Record<string, string>;
  problems: Map<string, string>;
}

/** Whether a setting is given, as a value or as a file. An empty value counts as unset. */
export function isGiven(env: Env, name: string): boolean {
  return Boolean(env[name] || env[`${name}_FILE`]);
}

/**
 * Reads settings from the environment, or for a setting NAME from the file that NAME_FILE names, such as a mounted secret; the white
 * space at its end is no part of it. What is not given has no value. No problem tells what is in a file.
 */
export function readGiven(env: Env, names: readonly string[]): GivenSettings {
  const values: Record<string, string> = {};
  const problems = new Map<string, string>();
  for (const name of names) {
    const [value, path] = [env[name], env[`${name}_FILE`]];
    if (value && path) problems.set(name, `${name} and ${name}_FILE are both set: leave one of them out`);
    else if (value) values[name] = value;
    else if (path) {
      const read = readSetting(path);
      if ('text' in read) values[name] = read.text;
      else problems.set(name, `${name}_FILE: ${read.problem}`);
    }
  }
  return { values, problems };
}

function readSetting(path: string): { text: string } | { problem: string } {
  try {
    const text = readFileSync(path, 'utf8').trimEnd();
    return text === '' ? { problem: `${path} is empty` } : { text };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
