import { pino, type Logger } from 'pino';

export type { Logger };

/** A structured log on standard error (standard output carries only what programs read). Secrets never go into a log record. */
export function createLogger(service: string, level: string): Logger {
  return pino(
    { level, base: { service, pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}

/** A logger that discards everything, for tests and one-shot commands. */
export const silentLogger: Logger = pino({ level: 'silent' });
