import { address, UNDECODABLE } from '@weir/shared/settings';
import { parse } from 'pg-connection-string';

/** Where Postgres is. What pg connects by is taken, also where it mends a %; what it throws at is refused. */
export const databaseUrl = address('postgres://user:password@host:5432/weir', 'postgres', 'postgresql').refine(
  isDecodable,
  UNDECODABLE,
);

function isDecodable(url: string): boolean {
  try {
    // The settings of libpq are taken without a warning. A file that is named and not there is told of when it connects.
    parse(withoutOptions(url).connectionString, { useLibpqCompat: true });
    return true;
  } catch (error) {
    return !(error instanceof URIError);
  }
}

/**
 * An address as pg is to have it. Its options would take the place of ours, and times would come in another zone: they are given by
 * themselves. Each sslmode but `disable` and `no-verify` asks for a server that is trusted and has the name in the address. So pg takes
 * them too, with a warning that its next major version will not; `uselibpqcompat` gives those of libpq.
 */
export function withoutOptions(url: string): { connectionString: string; given: string } {
  if (!URL.canParse(url)) return { connectionString: url, given: '' };
  const address = new URL(url);
  const { searchParams } = address;
  const given = searchParams.get('options') ?? '';
  const isChecked = /^(prefer|require|verify-ca)$/.test(searchParams.get('sslmode') ?? '');
  const isOfLibpq = searchParams.get('uselibpqcompat') === 'true';
  if (given === '' && (!isChecked || isOfLibpq)) return { connectionString: url, given };
  searchParams.delete('options');
  if (isChecked && !isOfLibpq) searchParams.set('sslmode', 'verify-full');
  return { connectionString: address.href, given };
}
