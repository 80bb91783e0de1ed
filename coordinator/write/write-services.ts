import type { Config } from '#shared/config/config-schema.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { TableCommit } from './table-commit.ts';
import type { EndingStatement, WriteJournal } from './write-journal.ts';
import type { WriteReport } from './write-report.ts';

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

/** The services, the statement's context, and who is told what the write does. */
export type WriteParts = WriteServices & {
  readonly context: CommandContext;
  readonly report: WriteReport | undefined;
};
