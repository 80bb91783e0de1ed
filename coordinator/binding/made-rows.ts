import type { RowsBinding, StagedBinding } from './statement-binding.ts';
import type { TakeBytes } from './encode-rows.ts';

/** Names under which the queries of a statement find rows that the statement has made for itself. */
export interface MadeRows {
  /** @param name as it stands behind FROM: `@...`, which no stage's name can be */
  readonly keep: (name: string, rows: RowsBinding | StagedBinding) => void;
  readonly take: TakeBytes;
}
