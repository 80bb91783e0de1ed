import { SkeinError, type ErrorCode } from '#shared/error.ts';

/** Refusals of a commit whose key, or whose write, the next coordinator has ended. */
const ENDED_BY_NEXT: ReadonlySet<ErrorCode> = new Set(['KEY_REUSED', 'COMMIT_CONFLICT']);

type Circumstances = {
  /** Aborted when this coordinator does not lead any more. */
  readonly lost: AbortSignal;
  /** Whether the statement had begun to commit. */
  readonly commits: boolean;
};

/**
 * The error of a statement whose coordinator has lost the lead while it ran. The next coordinator ends the writes of this one and deletes
 * their files, which shows here as faults of any kind: they are NOT_ACTIVE when nothing can have been committed, and else
 * COMMIT_STATE_UNKNOWN. The statement's own errors stay.
 */
export function fencedError(error: SkeinError, { lost, commits }: Circumstances): SkeinError {
  if (!lost.aborted || error.code === 'NOT_ACTIVE' || error.code === 'COMMIT_STATE_UNKNOWN') return error;
  const isFault = error.entry.kind === 'internal' || error.entry.kind === 'external';
  if (ENDED_BY_NEXT.has(error.code) || (isFault && !commits)) {
    return new SkeinError('NOT_ACTIVE', 'this coordinator has lost the lead, and nothing was written', {
      cause: error,
    });
  }
  if (!isFault) return error;
  return new SkeinError('COMMIT_STATE_UNKNOWN', 'this coordinator has lost the lead while the statement committed', {
    cause: error,
  });
}
