import { pino, stdSerializers, type Logger } from 'pino';

export type { Logger };

/** A logger that writes one JSON line per entry to standard output. Credentials are never among its fields. */
export function createLog(name: string, level: string): Logger {
  return pino({
    name,
    level,
    serializers: { err: describeError },
    redact: {
      paths: ['req.headers', 'headers', 'password', 'key', 'token', '*.password', '*.key', '*.token'],
      remove: true,
    },
  });
}

// What the errors of Node, Postgres, Redis and Fastify say of what went wrong. Not what they carry besides: the command
// that Redis refused has the password among its arguments when it was the one that signs in, and else events; Postgres
// quotes the row that it refused.
const TOLD = [
  'code',
  'errno',
  'syscall',
  'address',
  'port',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
];

/** An error as it is logged: its type, message and stack, those of its causes, and nothing that may be a secret. */
export function describeError(error: unknown): unknown {
  // Not an error: nothing is known of what is in it.
  if (!(error instanceof Error)) return { type: typeof error };
  const { type, message, stack } = stdSerializers.err(error);
  const properties = error as Error & Record<string, unknown>;
  const told = TOLD.filter((name) => properties[name] !== undefined).map((name) => [name, properties[name]]);
  const { command } = properties;
  return {
    type,
    message,
    stack,
    ...Object.fromEntries(told),
    ...(typeof command === 'object' && command !== null && 'name' in command && { command: command.name }),
    ...(error instanceof AggregateError && { errors: error.errors.map(describeError) }),
  };
}
