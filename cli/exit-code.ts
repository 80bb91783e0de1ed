import type { ErrorCode, SkeinError } from '#shared/error.ts';

/** How every command ends. `ordered`: a worker ended itself for the sake of others, and is to be started again at once. */
export const EXIT = { ok: 0, failed: 1, usage: 2, noCluster: 3, ordered: 75 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A command line that cannot be understood; `message` says what is wrong with it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

const NO_CLUSTER_CODES: ReadonlySet<ErrorCode> = new Set(['NO_CLUSTER', 'UNAUTHENTICATED', 'CATALOG_UNAVAILABLE']);

/** No cluster, or no right to talk to it: 3; a wrong setting: 2; all else: 1. */
export function exitCodeOf(error: SkeinError): ExitCode {
  if (NO_CLUSTER_CODES.has(error.code)) return EXIT.noCluster;
  return error.code === 'INVALID_CONFIGURATION' ? EXIT.usage : EXIT.failed;
}
