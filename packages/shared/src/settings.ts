import { isIP } from 'node:net';
import { z } from 'zod';
import { errorCodeOf } from './errors.ts';
import { type Env, readGiven } from './given-settings.ts';
import { Networks } from './networks.ts';
import { parseSentinelAddress } from './sentinel-address.ts';

/** A setting that is missing or makes no sense. Its message is one line that names the setting and says what to do. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Reads settings from the environment and from files ({@link readGiven}). Throws a {@link SettingsError} that names every bad setting in
 * one line.
 */
export function loadSettings<T extends z.ZodObject>(schema: T, env: Env): z.output<T> {
  const { values, problems } = readGiven(env, Object.keys(schema.shape));
  const result = schema.safeParse(values);
  if (result.success && problems.size === 0) return result.data;
  const lines = [...problems.values()];
  for (const issue of result.error?.issues ?? []) {
    const name = issue.path.join('.');
    if (values[name] !== undefined) lines.push(`${name}: ${issue.message}`);
    else if (!problems.has(name)) lines.push(`${name} is not set: ${issue.message}`);
  }
  throw refuse(lines);
}

/** The settings of these names that are given, unchecked. Throws a {@link SettingsError} where it cannot be said what is given. */
export function loadGiven(env: Env, names: readonly string[]): Record<string, string> {
  const { values, problems } = readGiven(env, names);
  if (problems.size > 0) throw refuse([...problems.values()]);
  return values;
}

function refuse(lines: readonly string[]): SettingsError {
  return new SettingsError(`Cannot start: ${lines.join('; ')}. See docs/configuration.md.`);
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

/** Whether a text is an address whose scheme is one of those given. */
function isAddress(text: string, schemes: readonly string[]): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1));
}

/** An address whose scheme is one of these, whatever is behind it. */
export function address(example: string, ...schemes: string[]) {
  const error = `must be an address such as ${example}`;
  return z.string({ error }).refine((text) => isAddress(text, schemes), error);
}

/** What is wrong with an address that its driver cannot decode. */
export const UNDECODABLE = 'has a % that stands for no character: write it %25';

/** Whether what the driver of Redis decodes of an address can be: the user, the password and the path. */
function isDecodable(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { username, password, pathname } = new URL(text);
  try {
    for (const each of [username, password, pathname]) decodeURIComponent(each);
    return true;
  } catch {
    return false;
  }
}

const redisExample =
  'must be an address such as redis://:password@host:6379/0, or redis+sentinel://:password@host1,host2/name';

/** Of Redis, or of Sentinels. */
export const redisUrl = z
  .string({ error: redisExample })
  .refine((text) => isAddress(text, ['redis', 'rediss']) || parseSentinelAddress(text) !== undefined, redisExample)
  .refine(isDecodable, UNDECODABLE);

const publicExample = 'must be the address people use, such as https://billing.example.com';

/** The address that people use, as an origin: the console lives at its root. */
export const publicUrl = z
  .string()
  .refine((text) => isAddress(text, ['http', 'https']), publicExample)
  .refine(isOrigin, `${publicExample}, with nothing behind the host and its port`)
  .transform((text) => new URL(text).origin);

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { href, origin } = new URL(text);
  return href === `${origin}/`;
}

/** The driver takes each % that it cannot decode as one. */
export const smtpUrl = address('smtp://user:password@mail.example.com:587', 'smtp', 'smtps');

/** A hash tag, so that Redis Cluster keeps all keys of a queue in one slot. */
export const queuePrefix = z
  .string()
  .regex(/^\{[a-zA-Z0-9_-]+\}$/, 'must be a hash tag such as {weir}')
  .default('{weir}');

/** How many days entries of the audit log are kept; 0: for ever. Workers delete older ones, and the API says so. */
export const auditLogDays = wholeNumber(0, 36_500).default(400);

/** Networks, none by default. */
export const networks = z
  .string()
  .default('')
  .transform((text, { addIssue }) => {
    try {
      return new Networks(text);
    } catch (error) {
      addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  });

/** A text of addresses and networks, as fastify takes them, which would tell of a bad one by an error without the setting's name. */
export const proxies = z
  .string()
  .refine(
    (text) => text.split(',').every((each) => isProxy(each.trim())),
    'must be the addresses or networks of your proxies, separated by commas, such as 10.0.0.0/8, 127.0.0.1',
  );

function isProxy(text: string): boolean {
  const [address = '', range, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  if (range === undefined) return true;
  if (version === 4 && isIP(range) === 4) return isMask(range);
  return /^[1-9]\d*$/.test(range) && Number(range) <= (version === 4 ? 32 : 128);
}

/** Such as 255.255.0.0. */
function isMask(text: string): boolean {
  const bits = text.split('.').map((part) => Number(part).toString(2).padStart(8, '0'));
  return /^1+0*$/.test(bits.join(''));
}

export const logLevel = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
  error: 'must be one of trace, debug, info, warn, error, fatal, silent',
});

/** Makes of an address that cannot be listened on the line that says which setting to change; other errors are thrown as they are. */
export async function explainListening(listening: Promise<string>, place: ListeningPlace): Promise<string> {
  try {
    return await listening;
  } catch (error) {
    const why = whyNotListening(errorCodeOf(error) ?? '', place);
    throw why === undefined ? error : new SettingsError(`Cannot start: ${why}.`, { cause: error });
  }
}

/** Where a process is to listen, and the setting that has the port. */
interface ListeningPlace {
  setting: string;
  port: number;
  host: string;
}

function whyNotListening(code: string, { setting, port, host }: ListeningPlace): string | undefined {
  if (code === 'EADDRINUSE') return `port ${port} of ${host} is taken: stop what listens there, or set ${setting}`;
  if (code === 'EACCES') return `this user may not listen on port ${port} of ${host}: set ${setting} to one above 1023`;
  if (code === 'EADDRNOTAVAIL' || code === 'EINVAL')
    return `${host} is no address of this machine: set HOST to one that is, or to 0.0.0.0 for all of them`;
  if (code === 'EAFNOSUPPORT') return `this machine has no IPv6, of which ${host} is: set HOST to an address of IPv4`;
  if (/^(ENOTFOUND|EAI_)/.test(code))
    return `no address is known for the name ${host}: correct HOST, or set it to an address of this machine`;
  return undefined;
}
