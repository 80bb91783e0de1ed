import type { RemovedFiles } from '#shared/iceberg/own-files.ts';
import type { TableName } from '../../binding/table-source.ts';
import type { LiteralClause } from '../clause/literal.ts';
import type { TextSpan } from '../../statement/statement.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import type { Outcome } from '../../operation/outcome.ts';

/** A metric of what a procedure did, or would do. */
export type Metric = readonly [name: string, value: number | bigint | null];

/** The outcome of a deletion of files. Each of those that stayed is in the log; those elsewhere are not the table's own. */
export const deletionMetrics = ({ deleted, stayed, elsewhere }: RemovedFiles): readonly Metric[] => [
  ['deleted_files_count', deleted],
  ...(stayed === 0 ? [] : ([['not_deleted_files_count', stayed]] as const)),
  ...(elsewhere === 0 ? [] : ([['files_elsewhere_count', elsewhere]] as const)),
];

/** The values that a procedure was called with, by the names of its parameters. */
export type ProcedureValues = ReadonlyMap<string, LiteralClause>;

/** A procedure of `ALTER TABLE t EXECUTE name(...)`. Every one takes `dry_run`, too. */
export interface Procedure {
  /** In the order of values without a name. */
  readonly parameters: readonly string[];
  /** WHERE may follow. */
  readonly takesCondition?: true;
  /** @throws SkeinError of the catalogue, with the position of a value */
  run(table: TableName, values: ProcedureValues, call: ProcedureCall): Promise<readonly Metric[]>;
}

/** With `dryRun` nothing is changed, and the metrics are those of what would be. */
type ProcedureCall = {
  readonly context: CommandContext;
  readonly dryRun: boolean;
  readonly where: TextSpan | null;
  /** Place of the procedure's name. */
  readonly position: number;
  /** Told once what a query of the procedure has cost. */
  readonly spent: (cost: QueryCost) => void;
};

/** The cost of a statement's queries, for history. */
export type QueryCost = Omit<Outcome, 'rowsProduced'>;
