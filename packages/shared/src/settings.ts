import { z } from 'zod';
import { errorCodeOf } from './errors.ts';

/** A setting that is missing or makes no sense. Its message is one line that names the setting and says what to do. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Reads settings from the environment. An empty value counts as unset. Throws a {@link SettingsError} that names every
 * bad setting in one line.
 */
export function loadSettings<T extends z.ZodType>(schema: T, env: Record<string, string | undefined>): z.output<T> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => {
    const name = issue.path.join('.');
    return given[name] === undefined ? `${name} is not set: ${issue.message}` : `${name}: ${issue.message}`;
  });
  throw new SettingsError(`Cannot start: ${lines.join('; ')}. See docs/configuration.md.`);
}

/** A whole number between two bounds. */
export function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((n) => n >= min && n <= max, message);
}

/** A port to listen on; 0 lets the system choose. */
export const port = wholeNumber(0, 65_535);

export const host = z.string().regex(/^[a-zA-Z0-9_.:-]+$/, 'must be a host name or an address, such as 127.0.0.1');

/** An address whose scheme is one of those given. */
export function address(example: string, ...schemes: string[]) {
  return z.string({ error: `must be an address such as ${example}` }).refine((text) => {
    return URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1));
  }, `must be an address such as ${example}`);
}

export const databaseUrl = address('postgres://user:password@host:5432/weir', 'postgres', 'postgresql');
export const redisUrl = address('redis://:password@host:6379/0', 'redis', 'rediss');

export const logLevel = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
  error: 'must be one of trace, debug, info, warn, error, fatal, silent',
});

/** Makes of a port that is taken the line that says which setting to change; other errors are thrown as they are. */
export async function explainTakenPort(
  listening: Promise<string>,
  { setting, port, host }: { setting: string; port: number; host: string },
): Promise<string> {
  try {
    return await listening;
  } catch (error) {
    if (errorCodeOf(error) !== 'EADDRINUSE') throw error;
    throw new SettingsError(
      `Cannot start: port ${port} of ${host} is taken: stop what listens there, or set ${setting}.`,
    );
  }
}
