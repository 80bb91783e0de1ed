import type { SkeinError } from '#shared/error.ts';

/** How every command ends. */
export const EXIT = { ok: 0, failed: 1, usage: 2, noCluster: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A command line that cannot be understood; `message` says what is wrong with it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** No cluster, or no right to talk to it: 3; a wrong setting: 2; all else: 1. */
export function exitCodeOf(error: SkeinError): ExitCode {
  switch (error.code) {
    case 'NO_CLUSTER':
    case 'UNAUTHENTICATED':
    case 'CATALOG_UNAVAILABLE':
      return EXIT.noCluster;
    case 'INVALID_CONFIGURATION':
      return EXIT.usage;
    default:
      return EXIT.failed;
  }
}
