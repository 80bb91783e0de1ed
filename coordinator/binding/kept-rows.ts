import type { RowsBinding, StagedBinding } from './statement-binding.ts';
import type { TakeBytes } from './encode-rows.ts';

/** Rows that a statement keeps for its own queries, under names that they find them by. */
export interface KeptRows {
  /** @param name as it stands behind FROM: `@...`, which no stage's name can be */
  readonly keep: (name: string, rows: RowsBinding | StagedBinding) => void;
  readonly take: TakeBytes;
}
