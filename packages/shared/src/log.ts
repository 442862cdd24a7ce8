import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino';
import { Refusal } from './errors.ts';
import { Outages, type Part } from './outages.ts';
import { countsItself, type CountingLog } from './sparse-log.ts';

export type { Logger };

/**
 * A logger that writes one JSON line per entry to standard output. Credentials are never among its fields. While one of `parts` is
 * away, that is said once (outages.ts), and without the stack, which has nothing of ours in it.
 */
export function createLog(name: string, level: string, parts: readonly Part[] = [], to?: DestinationStream): Logger {
  const outages = new Outages(parts);
  const lowest = pino.levels.values[level] ?? Infinity;
  const options = {
    name,
    // The end of an outage is told at `info`, and has to be heard where that is not written: else the next outage would seem the same.
    level: ['warn', 'error', 'fatal'].includes(level) ? 'info' : level,
    hooks: {
      logMethod(args: [unknown, ...unknown[]], method: (...args: unknown[]) => void, of: number) {
        const isWritten = of >= lowest;
        const [fields, message] = args;
        if (typeof fields !== 'object' || fields === null || typeof message !== 'string') {
          if (isWritten) method.apply(this, args);
          return;
        }
        const told = fields as Record<string, unknown>;
        if (!isWritten && typeof told['back'] !== 'string') return;
        const line = outages.look(told, message);
        if (isWritten && line !== undefined) method.apply(this, line);
      },
    },
    serializers: { err: (error: unknown) => describeError(error, outages.partOf(error) === undefined) },
    redact: {
      paths: ['req.headers', 'headers', 'password', 'key', 'token', '*.password', '*.key', '*.token'],
      remove: true,
    },
  };
  const log = to === undefined ? pino(options) : pino(options, to);
  // Children have it from their parent.
  const counting: CountingLog = {
    [countsItself]: (fields) => 'err' in fields && outages.partOf(fields.err) !== undefined,
  };
  return Object.assign(log, counting);
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

/**
 * An error as it is logged: its type, message and stack, those of its causes, and nothing that may be a secret. A refusal has no
 * stack: nothing broke.
 */
export function describeError(error: unknown, withStack = true): unknown {
  // Not an error: nothing is known of what is in it.
  if (!(error instanceof Error)) return { type: typeof error };
  const { type, message, stack } = stdSerializers.err(error);
  const properties = error as Error & Record<string, unknown>;
  const told = TOLD.filter((name) => properties[name] !== undefined).map((name) => [name, properties[name]]);
  const { command } = properties;
  return {
    type,
    message,
    ...(withStack && !(error instanceof Refusal) && { stack }),
    ...Object.fromEntries(told),
    ...(typeof command === 'object' && command !== null && 'name' in command && { command: command.name }),
    ...(error instanceof AggregateError && { errors: error.errors.map((each) => describeError(each, withStack)) }),
  };
}
