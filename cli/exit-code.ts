import type { ErrorCode, SkeinError } from '#shared/error.ts';

/** Exit codes of all commands. `ordered`: a worker ended itself to free the others from a hung quantum, and must be restarted at once. */
export const EXIT = { ok: 0, failed: 1, usage: 2, noCluster: 3, ordered: 75 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The error of an invalid command line; `message` says what is wrong with it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

const NO_CLUSTER_CODES: ReadonlySet<ErrorCode> = new Set(['NO_CLUSTER', 'UNAUTHENTICATED', 'CATALOG_UNAVAILABLE']);

/** Exit code of an error: 3 for no cluster or no right to talk to it, 2 for an invalid setting, 1 for anything else. */
export function exitCodeOf(error: SkeinError): ExitCode {
  if (NO_CLUSTER_CODES.has(error.code)) return EXIT.noCluster;
  return error.code === 'INVALID_CONFIGURATION' ? EXIT.usage : EXIT.failed;
}
