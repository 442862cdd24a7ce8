import { pino, type Logger } from 'pino';

export type { Logger };

/** A logger that writes one JSON line per entry to standard output. Credentials are never among its fields. */
export function createLog(name: string, level: string): Logger {
  return pino({
    name,
    level,
    redact: {
      paths: ['req.headers', 'headers', 'password', 'key', 'token', '*.password', '*.key', '*.token'],
      remove: true,
    },
  });
}
