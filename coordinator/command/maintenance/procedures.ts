import { SkeinError } from '#shared/error.ts';
import { didYouMean, nearestName } from '#shared/nearest-name.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { TableName } from '../../binding/table-source.ts';
import type { TextSpan } from '../../statement/statement.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import type { Answer } from '../../operation/answer.ts';
import { formAnswer, formColumns, type RowForm } from '../../operation/row-form.ts';
import { takeLiteral, type LiteralClause } from '../clause/literal.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { expireSnapshots } from './expire-snapshots.ts';
import { optimize } from './optimize.ts';
import { optimizeManifestsProcedure } from './optimize-manifests.ts';
import type { Metric, Procedure, QueryCost } from './procedure.ts';
import { removeOrphanFiles } from './remove-orphan-files.ts';
import { rollbackToSnapshot } from './rollback-to-snapshot.ts';
import { booleanValue } from './values.ts';

/** Every procedure of `ALTER TABLE t EXECUTE`, by the name that Trino gives it. */
const PROCEDURES = {
  expire_snapshots: expireSnapshots,
  optimize,
  optimize_manifests: optimizeManifestsProcedure,
  remove_orphan_files: removeOrphanFiles,
  rollback_to_snapshot: rollbackToSnapshot,
} as const satisfies Readonly<Record<string, Procedure>>;

const METRICS: RowForm<Metric> = {
  metric_name: ['VARCHAR', ([name]) => name],
  metric_value: ['BIGINT', ([, value]) => value],
};
/** The columns of what a procedure answers. */
export const METRIC_COLUMNS = formColumns(METRICS);

type ProcedureName = keyof typeof PROCEDURES;

/** A call as it was read; plain data. */
export type ProcedureClause = {
  readonly procedure: ProcedureName;
  readonly values: readonly (readonly [name: string, value: LiteralClause])[];
  readonly where: TextSpan | null;
  readonly position: number;
};

/** `name[(value | parameter => value, ...)] [WHERE condition]` @throws SYNTAX_ERROR, NOT_SUPPORTED for another procedure */
export function takeProcedure(reader: StatementReader): ProcedureClause {
  const { position } = reader;
  const name = foldIdentifier(reader.takeName() ?? '');
  if (!Object.hasOwn(PROCEDURES, name)) {
    const near = didYouMean(nearestName(name, Object.keys(PROCEDURES)));
    throw new SkeinError('NOT_SUPPORTED', `the procedure ${name.slice(0, 100)} is not served${near}`, { position });
  }
  const procedure = name as ProcedureName;
  const { parameters: own, takesCondition }: Procedure = PROCEDURES[procedure];
  const parameters = [...own, 'dry_run'];
  const values = new Map<string, LiteralClause>();
  if (reader.takeSymbol('(') && !reader.takeSymbol(')')) {
    do {
      const parameter = takeParameter(reader, parameters, values.size);
      if (values.has(parameter)) throw reader.error('SYNTAX_ERROR', `${parameter} is given twice`);
      values.set(parameter, takeLiteral(reader, parameter));
    } while (reader.takeSymbol(','));
    if (!reader.takeSymbol(')')) throw reader.expected("',' or ')'");
  }
  return { procedure, values: [...values], where: takesCondition === true ? takeCondition(reader) : null, position };
}

/** `WHERE condition`; null when there is none. @throws SYNTAX_ERROR */
export const takeCondition = (reader: StatementReader): TextSpan | null =>
  reader.takeWord('WHERE') ? reader.expression('a condition') : null;

function takeParameter(reader: StatementReader, parameters: readonly string[], place: number): string {
  const isNamed = reader.peekSymbol('=', 1) && reader.peekSymbol('>', 2);
  const name = isNamed ? foldIdentifier(reader.takeName() ?? '') : parameters[place];
  if (name === undefined || !parameters.includes(name)) throw reader.expected(`one of ${parameters.join(', ')}`);
  if (isNamed) {
    reader.takeSymbol('=');
    reader.takeSymbol('>');
  }
  return name;
}

export async function runProcedure(
  { procedure, values, where, position }: ProcedureClause,
  table: TableName,
  context: CommandContext,
): Promise<{ readonly answer: Answer; readonly cost: QueryCost }> {
  const given = new Map(values);
  let cost: QueryCost = { bytesScanned: 0, fragments: 0 };
  const spent = (one: QueryCost): void => {
    cost = one;
  };
  const call = { context, dryRun: booleanValue(given, 'dry_run'), where, position, spent };
  const metrics = await PROCEDURES[procedure].run(table, given, call);
  return { answer: formAnswer(METRICS, metrics), cost };
}
