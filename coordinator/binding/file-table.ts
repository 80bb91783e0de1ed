import type { ScanSpec } from '#shared/task/task.ts';
import type { SqlField } from '../plan/sql-type.ts';

/** Files of a stage as one statement reads them: `FROM @stage/path (FILE_FORMAT => ...)`. */
export type FileTable = {
  /** As the statement names it, for messages and EXPLAIN. */
  readonly title: string;
  readonly columns: readonly SqlField[];
  readonly spec: ScanSpec;
  /** Estimated of the files' bytes. */
  readonly rowCount: number;
  readonly bytes: number;
};
