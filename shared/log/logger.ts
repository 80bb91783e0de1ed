import { pino, type Logger } from 'pino';

import { maskJson } from '#shared/mask-secrets.ts';

export type { Logger };

/** A structured log on standard error (standard output carries only what programs read). Secrets never go into a log record. */
export function createLogger(service: string, level: string): Logger {
  const lines = pino.destination({ fd: 2, sync: false });
  const write = (line: string): void => void lines.write(`${maskJson(line.trimEnd())}\n`);
  return pino({ level, base: { service, pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}

/** A logger that discards everything, for tests and one-shot commands. */
export const silentLogger: Logger = pino({ level: 'silent' });
