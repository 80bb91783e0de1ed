import { SkeinError } from '#shared/error.ts';
import { MAIN_BRANCH } from '#shared/iceberg/write/table-write.ts';
import type { WriteTarget } from '../operation/writes.ts';

/** The table at one of its branches: what is written becomes the branch's snapshot. @throws SNAPSHOT_NOT_FOUND, NOT_SUPPORTED for a tag */
export function atBranch(target: WriteTarget, branch: string): WriteTarget {
  const { name, base } = target;
  if (branch === MAIN_BRANCH) return target;
  const ref = base.refs.get(branch);
  if (ref === undefined) {
    throw new SkeinError('SNAPSHOT_NOT_FOUND', `${name.table} has no branch ${branch.slice(0, 100)}`);
  }
  if (ref.type === 'tag') {
    throw new SkeinError('NOT_SUPPORTED', `${branch} is a tag of ${name.table}: a tag does not change, a branch does`);
  }
  return { ...target, branch, base: { ...base, currentSnapshotId: ref.snapshotId } };
}
