import { FAULTS, GUARDED_COLUMNS } from '#shared/task/load-rules.ts';
import { printValue } from '#shared/iceberg/print-value.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { must } from '#shared/must.ts';
import { printSqlType } from '../plan/sql-type.ts';
import { icebergSqlType } from '../plan/iceberg-sql-type.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { AsProven } from '../statement/proven.ts';
import { SplicedText } from '../statement/spliced-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { Assignment } from '../write/assign-columns.ts';
import { missingValues } from '../write/missing-values.ts';
import type { CopySelect } from '../operation/copy-into.ts';

/** The texts of a load: what is made of each record, in the order of the columns that are filled. */
export type RecordTexts = {
  /** The statement's text that the expressions of a SELECT are parts of. */
  readonly rest: TextSpan;
  readonly select: CopySelect<AsProven> | null;
  /** The names of the columns of the files that are read as they are, without a SELECT. */
  readonly columns: readonly string[];
};

/** `SELECT expression, ... FROM name AS alias` */
export function strictText(texts: RecordTexts, name: string): DerivedText {
  const text = new SplicedText(texts.rest).insert('SELECT ');
  for (let i = 0; i < countOf(texts); i += 1) {
    if (i > 0) text.insert(', ');
    insertExpression(text, texts, i);
  }
  return insertSource(text, texts, name);
}

/**
 * The text of `LoadRules.guarded` over the same files with `GUARDED_COLUMNS`: every expression is tried by itself, so that the first one that
 * fails can be told. Each is converted to the type of its column there.
 * @param assignments of all columns of the table
 */
export function guardedText(texts: RecordTexts, name: string, assignments: readonly Assignment[]): DerivedText {
  const fields = fieldsOf(texts, assignments);
  const { place, fault } = GUARDED_COLUMNS;
  const tried = fields.map((_, i) => `r${i}`);
  const text = new SplicedText(texts.rest)
    .insert(`SELECT ${['p', `${faultSql(assignments)} AS fault`, ...tried].join(', ')} FROM (SELECT `)
    .insert(`${quoteIdentifier(place)} AS p, ${quoteIdentifier(fault)} AS f`);
  for (const [i, { type }] of fields.entries()) {
    text.insert(", TRY({'v': CAST(");
    insertExpression(text, texts, i);
    text.insert(` AS ${typeOf(type)})}) AS r${i}`);
  }
  return insertSource(text, texts, name).insert(')');
}

/** The table's columns as a list over the guarded text. */
export const guardedColumns = (assignments: readonly Assignment[]): string =>
  assignments.map((one) => `${valueOf(one)} AS ${quoteIdentifier(one.field.name)}`).join(', ');

const typeOf = (type: Field['type']): string => printSqlType(icebergSqlType(type));

const countOf = ({ select, columns }: RecordTexts): number => select?.expressions.length ?? columns.length;

/** The column of the table that each expression fills. */
function fieldsOf(texts: RecordTexts, assignments: readonly Assignment[]): readonly Field[] {
  const bySource = new Map(assignments.map(({ field, source }) => [source, field]));
  return Array.from({ length: countOf(texts) }, (_, i) => must(bySource.get(i), 'an expression fills a column'));
}

const valueOf = ({ field, source }: Assignment): string =>
  source === null
    ? `CAST(${printValue(field.type, field.writeDefault ?? null)} AS ${typeOf(field.type)})`
    : `r${source}.v`;

/** The fault of a record: a value of the file, an expression that fails, or a missing value; NULL when it has none. */
function faultSql(assignments: readonly Assignment[]): string {
  const failed = assignments.flatMap(({ field, source }) =>
    source === null ? [] : [`WHEN r${source} IS NULL THEN ${quoteLiteral(`${FAULTS.value}${field.name}`)}`],
  );
  const missing = assignments.flatMap((one) =>
    missingValues(one.field, valueOf(one)).map(
      ({ path, sql }) => `WHEN ${sql} THEN ${quoteLiteral(`${FAULTS.missing}${path}`)}`,
    ),
  );
  const cases = [`WHEN f IS NOT NULL THEN ${quoteLiteral(FAULTS.value)} || f`, ...failed, ...missing];
  return `CASE ${cases.join(' ')} END`;
}

function insertExpression(text: SplicedText, { select, columns }: RecordTexts, i: number): void {
  const expression = select?.expressions[i];
  if (expression === undefined) {
    text.insert(quoteIdentifier(must(columns[i], 'a column of the files')));
    return;
  }
  text.insert('(').splice(expression).insert(')');
}

const insertSource = (text: SplicedText, { select }: RecordTexts, name: string): DerivedText =>
  text.insert(` FROM ${name}${select === null || select.alias === null ? '' : ` AS ${quoteIdentifier(select.alias)}`}`);
