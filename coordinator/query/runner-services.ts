import type { Clock } from '#shared/clock.ts';
import type { ByteBudget } from '#shared/byte-budget.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { TableReader } from '#shared/iceberg/table-reader.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Cursors } from '../cursor/cursors.ts';
import type { ClientTexts } from '../client-texts.ts';
import type { HistoryReader } from '../history/read-history.ts';
import type { Traces } from './traces.ts';
import type { Quarantine } from '../quarantine/quarantine.ts';
import type { RecentRuns } from '../quarantine/recent-runs.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { SessionServices } from '../session/session-services.ts';
import type { Transactions } from '../transaction/transactions.ts';
import type { UnloadJournal } from '../unload/unload-journal.ts';
import type { Admission } from '../workload/admission.ts';
import type { CommitQueue } from '../write/commit-queue.ts';
import type { TableCommit } from '../write/table-commit.ts';
import type { WriteJournal } from '../write/write-journal.ts';
import type { Recorder } from './active-query.ts';
import type { QueryMetrics } from './query-metrics.ts';
import type { LiveStatement, QueryRegistry } from './query-registry.ts';
import type { QueryCompiler } from '../prepare/query-compiler.ts';

export type RunnerServices = {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly epoch: number;
  /** Aborted when this coordinator does not lead any more. */
  readonly lost: AbortSignal;
  readonly registry: QueryRegistry;
  readonly admission: Admission;
  readonly sessions: SessionServices;
  readonly compiler: QueryCompiler;
  readonly texts: ClientTexts;
  readonly scheduler: Scheduler;
  readonly quarantine: Quarantine;
  readonly runs: RecentRuns;
  readonly tables: TableReader;
  /** Memory for the lists of files of all queries. */
  readonly fileLists: ByteBudget;
  readonly writes: WriteJournal;
  readonly unloads: UnloadJournal;
  readonly commits: CommitQueue<TableCommit>;
  readonly transactions: Transactions;
  readonly cursors: Cursors;
  readonly record: Recorder;
  /** Called when a statement begins to wait for its place, and when it gets another class. */
  readonly onChanged: (statement: LiveStatement) => void;
  readonly history: Pick<HistoryReader, 'pages'>;
  readonly metrics: QueryMetrics;
  /** Null = nobody collects traces. */
  readonly traces: Traces | null;
};
