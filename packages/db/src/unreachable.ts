// What is said to the person at a command line, or in front of a log, when Postgres gives no connection.

import { errorCodeOf } from '@weir/shared/errors';
import { isDatabaseAway, isUnavailable } from './database.ts';

/** What to do about each, by the code of the error or what its message says; the first that fits. */
const ADVICE: [sign: RegExp, advice: string][] = [
  [
    /^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_UNTRUSTED)/,
    'its certificate is of a CA that is not known here: name the file of the CA with sslrootcert in DATABASE_URL',
  ],
  [/^CERT_HAS_EXPIRED/, 'renew the certificate of the server'],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID/,
    'its certificate is for another name: use that name in DATABASE_URL, or have one made for this name',
  ],
  [/does not support SSL/, 'set ssl = on there, or take sslmode out of DATABASE_URL'],
  [/^ENOENT/, 'check the files that DATABASE_URL names'],
  [/^(28|SASL: )/, 'check the user and the password in DATABASE_URL, and pg_hba.conf there'],
  [/^25006/, 'have DATABASE_URL lead to the primary, or promote this one'],
  [/^3D000/, 'make the database there, or check its name in DATABASE_URL'],
  [/^(ENOTFOUND|EAI_)/, 'check the name of the host in DATABASE_URL'],
  [/^55P03/, 'something there holds a lock for long, such as a backup: run it again once that has ended'],
  [/^53300/, 'it has no connection left: raise max_connections there, or lower DATABASE_CONNECTIONS'],
  [/^(57014|40)/, 'it took too long there, or others held it up: run it again'],
  [/^53100/, 'make room on its disk'],
  [/^53200/, 'free memory on its machine, or give it more'],
  [/^(53|58)/, 'look into the log of Postgres'],
  [/^the synchronous standby/, 'bring the standby back, or take it out of synchronous_standby_names'],
];

/**
 * One line that says why Postgres gives no connection, or cannot answer now, and what to do about it; undefined for any other error.
 * It has no secret: none of these errors has the address.
 */
export function explainUnreachable(error: unknown): string | undefined {
  if (!isDatabaseAway(error) && !isUnavailable(error)) return undefined;
  const [code, message] = [errorCodeOf(error) ?? '', messageOf(error)];
  const advice = ADVICE.find(([sign]) => sign.test(code) || sign.test(message))?.[1];
  return `${message} (${advice ?? 'check DATABASE_URL, and that Postgres runs there'})`;
}

/**
 * Whether an error of connecting says that Postgres may be about to be there: nobody listens at its address, or it starts. What asks for
 * another address, role or password is none.
 */
export function isStarting(error: unknown): boolean {
  return ['ECONNREFUSED', '57P03'].includes(errorCodeOf(error) ?? '');
}

/** Of a name with several addresses each is tried, and what came of it is told by itself. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(messageOf))].join('; ');
  return (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');
}
