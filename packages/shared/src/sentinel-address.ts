/** Where Sentinels say which Redis is the primary. */
export interface SentinelAddress {
  sentinels: { host: string; port: number }[];
  /** What they know the primary by. */
  name: string;
  isTls: boolean;
  /** Of Redis. */
  username?: string;
  password?: string;
  db: number;
  /** Of the Sentinels. */
  sentinelUsername?: string;
  sentinelPassword?: string;
}

const SENTINEL_PORT = 26_379;

// No URL has several hosts with a port each, so it is read here.
const FORM =
  /^(rediss?)\+sentinel:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^@/?]+)\/([^@/?]+)(?:\/(\d{1,5}))?(?:\?([^#]*))?$/;
const HOST = /^(?:\[([0-9a-fA-F:]+)\]|([a-zA-Z0-9_.-]+))(?::(\d{1,5}))?$/;
const OPTIONS = ['sentinel_user', 'sentinel_password'];

/**
 * Parses `redis+sentinel://user:password@host1:port,host2/name/db?sentinel_user=…&sentinel_password=…`, or `rediss+sentinel://`
 * with TLS to Redis and the Sentinels. Characters that mean something in an address are written `%40`. Undefined for any other text.
 */
export function parseSentinelAddress(text: string): SentinelAddress | undefined {
  const [, scheme, user, password, hosts, name, db, query] = FORM.exec(text) ?? [];
  if (hosts === undefined || name === undefined) return undefined;
  const options = new URLSearchParams(query);
  if ([...options.keys()].some((option) => !OPTIONS.includes(option))) return undefined;
  const sentinels = hosts.split(',').map((each) => {
    const [, six, host = six, port = SENTINEL_PORT] = HOST.exec(each) ?? [];
    return { host, port: Number(port) };
  });
  if (sentinels.some(({ host, port }) => host === undefined || port === 0 || port > 65_535)) return undefined;
  const [sentinelUser, sentinelPassword] = OPTIONS.map((option) => options.get(option));
  try {
    return {
      sentinels: sentinels as SentinelAddress['sentinels'],
      name: decodeURIComponent(name),
      isTls: scheme === 'rediss',
      db: Number(db ?? 0),
      ...(user && { username: decodeURIComponent(user) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(sentinelUser && { sentinelUsername: sentinelUser }),
      ...(sentinelPassword && { sentinelPassword }),
    };
  } catch {
    // A `%` that begins nothing.
    return undefined;
  }
}
