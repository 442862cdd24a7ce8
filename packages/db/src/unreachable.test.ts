import pg from 'pg';
import { expect, test } from 'vitest';
import { StandbyAway } from './database.ts';
import { explainUnreachable } from './unreachable.ts';

const withCode = (message: string, code?: string) => Object.assign(new Error(message), code !== undefined && { code });
function sqlError(message: string, code: string): pg.DatabaseError {
  const error = new pg.DatabaseError(message, 0, 'error');
  error.code = code;
  return error;
}

test.each([
  [
    withCode('unable to verify the first certificate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    'sslrootcert in DATABASE_URL',
  ],
  [
    withCode('self-signed certificate in certificate chain', 'SELF_SIGNED_CERT_IN_CHAIN'),
    'sslrootcert in DATABASE_URL',
  ],
  [withCode('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'), 'sslrootcert in DATABASE_URL'],
  [withCode('certificate has expired', 'CERT_HAS_EXPIRED'), 'renew the certificate'],
  [withCode("Hostname/IP does not match certificate's altnames", 'ERR_TLS_CERT_ALTNAME_INVALID'), 'for another name'],
  [withCode('getaddrinfo EAI_AGAIN db', 'EAI_AGAIN'), 'the name of the host'],
  [withCode('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), 'the user and the password'],
  [sqlError('password authentication failed for user "weir"', '28P01'), 'the user and the password'],
  [sqlError('no pg_hba.conf entry for host "10.0.0.1"', '28000'), 'pg_hba.conf'],
  [sqlError('this Postgres is a standby, and takes no writes', '25006'), 'the primary'],
  [sqlError('sorry, too many clients already', '53300'), 'max_connections'],
  [sqlError('canceling statement due to lock timeout', '55P03'), 'holds a lock for long'],
  [sqlError('the database system is starting up', '57P03'), 'that Postgres runs'],
])('%s is explained in one line, with what to do', (error, advice) => {
  const line = explainUnreachable(error);
  expect(line).toMatch(/^[^\n]+$/);
  expect(line).toContain(`${error.message} (`);
  expect(line).toContain(advice);
});

test.each([
  [sqlError('canceling statement due to statement timeout', '57014'), 'run it again'],
  [sqlError('deadlock detected', '40P01'), 'run it again'],
  [sqlError('could not extend file: No space left on device', '53100'), 'make room on its disk'],
  [sqlError('out of memory', '53200'), 'free memory'],
  [sqlError('temporary file size exceeds temp_file_limit (1kB)', '53400'), 'the log of Postgres'],
  [sqlError('could not read block 0 in file', '58030'), 'the log of Postgres'],
  [new StandbyAway(), 'bring the standby back'],
])('%s does not lead to DATABASE_URL, which is right', (error, advice) => {
  const line = explainUnreachable(error);
  expect(line).toContain(`${error.message} (`);
  expect(line).toContain(advice);
  expect(line).not.toContain('DATABASE_URL');
});

test('of a name with several addresses what came of each is told', () => {
  const errors = ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED 127.0.0.1:5432'].map(
    (message) => new Error(message),
  );
  const error = Object.assign(new AggregateError(errors), { code: 'ECONNREFUSED' });
  expect(explainUnreachable(error)).toMatch(/^connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432 \(/);
});

test('a defect is not explained away', () => {
  expect(explainUnreachable(sqlError('syntax error', '42601'))).toBeUndefined();
  expect(explainUnreachable(new TypeError('x is not a function'))).toBeUndefined();
});
