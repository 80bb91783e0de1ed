import { printTransform } from '#shared/iceberg/transform.ts';
import { parseJson, printJson, type JsonObject } from '#shared/json.ts';
import { unreachable } from '#shared/must.ts';
import type { ExplainOptions } from '../operation/explain-options.ts';
import { isPoliced, requireUnmasked } from '../operation/policed-table.ts';
import type { StatementReading } from '../operation/queries.ts';
import type { WriteTarget } from '../operation/writes.ts';
import type { RowWrite } from '../operation/row-write.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { AsProven } from '../statement/proven.ts';
import type { TextSpan } from '../statement/statement.ts';
import { insertedRows } from './assign-columns.ts';
import { matchQuery } from './matched-rows.ts';
import { mergeQuery } from './merge-rows.ts';
import { proveWrite } from './prove-write.ts';
import { addressedTarget, modeOf, type RowServices } from './replace-rows.ts';
import { updateQuery } from './update-rows.ts';
import { readName } from './target-name.ts';

/** The query that a statement becomes; null for a DELETE of all rows, which reads none. */
type WriteQuery = {
  readonly target: WriteTarget;
  readonly query: {
    readonly span: TextSpan;
    readonly text: DerivedText;
    readonly reading?: StatementReading;
  } | null;
  readonly commit: { readonly operation: string; readonly mode: string };
};

/** The lines of the statement's plan, of the table that it writes, and of the commit. */
export async function explainWrite(
  write: RowWrite,
  options: ExplainOptions,
  services: RowServices,
): Promise<readonly string[]> {
  const { target, query, commit } = await writeQuery(await proveWrite(write, services.queries), services);
  const plan = query === null ? null : await services.queries.explain(query.span, options, query.text, query.reading);
  if (options.format === 'json') {
    const document = plan === null ? {} : (parseJson(plan.join('\n')) as JsonObject);
    return [printJson({ ...document, sink: targetJson(target), commit }, 2)];
  }
  const { operation, mode } = commit;
  return [
    ...(plan === null ? ['No row is read.'] : plan),
    '',
    `Sink: ${printTarget(target)}`,
    `Commit: ${operation} (${mode})`,
  ];
}

async function writeQuery({ kind, input }: RowWrite<AsProven>, services: RowServices): Promise<WriteQuery> {
  const reading = 'addressed';
  switch (kind) {
    case 'insert': {
      const target = await services.target(input.table);
      const text = insertedRows(input, target.schema.fields);
      const commit =
        input.mode === 'append'
          ? { operation: 'append', mode: 'append' }
          : {
              operation: 'overwrite',
              mode: target.spec.fields.length === 0 ? 'all rows' : 'the partitions that get rows',
            };
      return { target, query: { span: input.query, text }, commit };
    }
    case 'delete': {
      const target = await addressedTarget(input.table, services.target);
      const isAll = input.from === null && input.where === null && !isPoliced(target);
      const query = isAll ? null : ({ span: input.rest, text: matchQuery(target, input), reading } as const);
      const mode = isAll ? 'metadata delete' : printMode(modeOf(target, 'delete'));
      return { target, query, commit: { operation: 'delete or overwrite', mode } };
    }
    case 'update': {
      const target = await addressedTarget(input.table, services.target);
      requireUnmasked(target, 'UPDATE', input.table.position);
      const query = { span: input.rest, text: updateQuery(input, target), reading } as const;
      return { target, query, commit: { operation: 'overwrite', mode: printMode(modeOf(target, 'update')) } };
    }
    case 'merge': {
      const target = await addressedTarget(input.table, services.target);
      requireUnmasked(target, 'MERGE', input.table.position);
      const { text } = await mergeQuery(input, target, services);
      const commit = { operation: 'append, delete or overwrite', mode: printMode(modeOf(target, 'merge')) };
      return { target, query: { span: input.rest, text, reading }, commit };
    }
    default:
      return unreachable(kind);
  }
}

const printMode = (mode: ReturnType<typeof modeOf>): string =>
  mode ?? 'file by file: metadata delete, merge-on-read for few rows of a large file, otherwise copy-on-write';

/** A table that is written, as text. */
export function printTarget(target: WriteTarget): string {
  const { table, format, partitions } = targetJson(target);
  return `${table}, format ${format}${partitions.length === 0 ? '' : `, partitions: ${partitions.join(', ')}`}`;
}

export function targetJson(target: WriteTarget): {
  readonly table: string;
  readonly format: number;
  readonly partitions: readonly string[];
} {
  const { base, spec } = target;
  const { catalog, namespace, table } = readName(target);
  const partitions = spec.fields
    .filter(({ transform }) => transform.kind !== 'void')
    .map((field) => `${field.name} (${printTransform(field.transform)})`);
  return { table: [catalog, ...namespace, table].join('.'), format: base.formatVersion, partitions };
}
