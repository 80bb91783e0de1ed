import type { RepeatBudget } from '#shared/storage/storage-use.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { SnapshotChange } from '#shared/iceberg/write/snapshot-change.ts';
import type { NewSnapshot } from '#shared/iceberg/write/commit-writes.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { WriteTarget } from '../operation/writes.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { TableCommit } from './table-commit.ts';
import type { EndingStatement, WriteJournal } from './write-journal.ts';

/** The services that the writes of one statement need. */
export type WriteServices = {
  readonly config: Config;
  readonly journal: Pick<WriteJournal, 'begin' | 'newKey'>;
  readonly commits: Pick<CommitQueue<TableCommit>, 'run'>;
  readonly statement: EndingStatement & {
    readonly recordId: string;
    /** Whether a task of it may have been tried twice. */
    readonly mayHaveRetried: boolean;
    readonly beginCommit: () => void;
  };
};

export type WrittenTable = {
  readonly target: WriteTarget;
  readonly files: readonly NewDataFile[];
  readonly elapsedMs: number;
};
export type CommittedChange = {
  readonly change: SnapshotChange;
  readonly made: NewSnapshot;
  readonly elapsedMs: number;
};

/** Is told what a write does. */
export interface WriteObserver {
  wrote(written: WrittenTable): void;
  committed(committed: CommittedChange): void;
}

/** The services, the statement's context, and who is told what the write does. */
export type WriteParts = WriteServices & {
  readonly context: CommandContext;
  readonly report: WriteObserver | undefined;
  /** Requests to stores that the statement may still send again. */
  readonly repeats: RepeatBudget;
};
