import { SkeinError } from '#shared/error.ts';
import { ADDRESS_IDS } from '#shared/iceberg/address-columns.ts';
import { printValue } from '#shared/iceberg/print-value.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { Description } from '../operation/description.ts';
import type * as command from '../operation/row-write.ts';
import { requireUnmasked } from '../operation/policed-table.ts';
import type { WriteOutcome, WriteTarget } from '../operation/writes.ts';
import { printSqlType } from '../plan/sql-type.ts';
import { icebergSqlType } from '../plan/iceberg-sql-type.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { AsProven, Proven } from '../statement/proven.ts';
import { SplicedText } from '../statement/spliced-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { Assignment } from './assign-columns.ts';
import { sourceText } from './merge-source.ts';
import { targetSource } from './target-name.ts';
import { missingColumn } from './missing-column.ts';
import { addressedTarget, readTarget, withRestarts, type RowServices } from './replace-rows.ts';
import { planReturning } from './returned-rows.ts';
import { rewriteQuery } from './rewrite-query.ts';
import { writeNewRows } from './write-new-rows.ts';

type Merge = command.Merge<AsProven>;
type MergeBranch = command.MergeBranch<AsProven>;

/** A name that nobody writes: the number of the branch that a row takes. */
const BRANCH = '"skein branch"';

/**
 * Merges a source into a table, in one snapshot:
 * ```
 * target JOIN source ─▶ the first branch that fits each row ─▶ new rows, addresses of old ones ─▶ as UPDATE
 * ```
 */
export const mergeRows = (input: Merge, services: RowServices): Promise<WriteOutcome> =>
  withRestarts(services, () => mergeOnce(input, services));

/** The types of the parameters. */
export async function describeMerge(input: Merge, services: RowServices): Promise<Description['parameters']> {
  const target = await addressedTarget(input.table, services.target);
  const { text } = await mergeQuery(input, target, services);
  return (await services.queries.describe(input.rest, text)).parameters;
}

type MergedRows = { readonly text: DerivedText; readonly assignments: readonly Assignment[] };

/** The query of the rows that the branches write, and of the addresses of those that go. */
export async function mergeQuery(input: Merge, target: WriteTarget, services: RowServices): Promise<MergedRows> {
  const { fields } = rewriteQuery(target).schema;
  const source = input.branches.some(isStar) ? await sourceColumns(input, services) : [];
  const branches = input.branches.map((branch) => valuesOf(branch, { input, target, source }));
  const kept = fields.filter(({ id }) => id !== ADDRESS_IDS._last_updated_sequence_number);
  const assignments = fields.map((field) => ({ field, source: kept.includes(field) ? kept.indexOf(field) + 1 : null }));
  return { text: newRows(target, { input, branches, fields: kept }), assignments };
}

async function mergeOnce(input: Merge, services: RowServices): Promise<WriteOutcome> {
  const table = await readTarget(input.table, services);
  requireUnmasked(table.target, 'MERGE', input.table.position);
  const returning = await planReturning(input, table.target, { queries: services.queries, of: 'written' });
  const { text, assignments } = await mergeQuery(input, table.target, services);
  const { rest, table: name } = input;
  return writeNewRows(
    { ...table, returning, verb: 'merge', name, query: rest, text, assignments, check: () => undefined },
    services,
  );
}

/** The value of a column in a row that a branch writes: a part of the statement, or a text of our own. */
type Value = Proven<'expression'> | string;
type Branch = {
  readonly branch: MergeBranch;
  /** By field; a column of the table that is absent stays as it is. Null = the branch writes no row. */
  readonly values: ReadonlyMap<Field, Value> | null;
};

const isStar = ({ action }: MergeBranch): boolean =>
  (action.kind === 'update' && action.set === null) || (action.kind === 'insert' && action.values === null);

/** The names of the source's columns. */
async function sourceColumns({ source, rest }: Merge, { queries }: RowServices): Promise<readonly string[]> {
  if (source.kind === 'query') {
    const found = await queries.columns(source.query);
    return found.map(({ name }, i) => source.columns[i]?.name ?? name);
  }
  // The text of our own has no place in the statement.
  const own = { text: `SELECT * FROM ${source.table.text}`, offset: rest.offset + rest.text.length };
  return (await queries.columns(own)).map(({ name }) => name);
}

type BranchContext = { readonly input: Merge; readonly target: WriteTarget; readonly source: readonly string[] };

/** @throws COLUMN_NOT_FOUND, SYNTAX_ERROR */
function valuesOf(branch: MergeBranch, { input, target, source }: BranchContext): Branch {
  const { action } = branch;
  if (action.kind === 'delete' || action.kind === 'nothing') return { branch, values: null };
  const { fields } = target.schema;
  const values = new Map<Field, Value>();
  const put = (name: string, position: number, value: Value | null): void => {
    const field = fields.find((one) => foldIdentifier(one.name) === foldIdentifier(name));
    if (field === undefined) throw missingColumn(fields, name, position);
    if (values.has(field)) throw new SkeinError('SYNTAX_ERROR', `column ${name} is given twice`, { position });
    values.set(field, value ?? printValue(field.type, field.writeDefault ?? null));
  };
  const { position } = input.table;
  const star = (): void => {
    for (const name of source) put(name, position, `${sourceText(input, target).qualifier}.${quoteIdentifier(name)}`);
  };
  if (action.kind === 'update') {
    if (action.set === null) star();
    else for (const { name, position: at, value } of action.set) put(name, at, value);
    return { branch, values };
  }
  if (action.values === null) star();
  else {
    const columns = action.columns ?? fields.map(({ name }) => ({ name, position }));
    if (columns.length !== action.values.length) {
      const counts = `${columns.length} columns, and ${action.values.length} values are given`;
      throw new SkeinError('SYNTAX_ERROR', `an INSERT fills ${counts}`, { position });
    }
    for (const [i, { name, position: at }] of columns.entries()) put(name, at, action.values[i] ?? null);
  }
  for (const field of fields) if (!values.has(field)) put(field.name, position, null);
  return { branch, values };
}

type Rows = { readonly input: Merge; readonly branches: readonly Branch[]; readonly fields: readonly Field[] };

/**
 * The new rows, with the addresses of the old ones. The number of the branch is found once for each row:
 * ```
 * SELECT CASE ... END AS "skein branch", CASE "skein branch" WHEN 0 THEN ... END, t._file, t._pos, written? FROM t FULL JOIN s ON ...
 * ```
 * An alias cannot stand for an expression with a subquery; the number is then found by a LATERAL one.
 */
function newRows(target: WriteTarget, { input, branches, fields }: Rows): DerivedText {
  const { on, rest } = input;
  const { source: table, qualifier: t } = targetSource(target, input.alias);
  const source = sourceText(input, target);
  const text = new SplicedText(rest);
  const copy = (part: Value): SplicedText => (typeof part === 'string' ? text.insert(part) : text.splice(part));
  const choose = (kind: MergeBranch['when']): void => {
    text.insert('CASE WHEN false THEN 0');
    for (const [i, { branch }] of branches.entries()) {
      if (branch.when !== kind) continue;
      text.insert(' WHEN (');
      copy(branch.condition ?? 'true').insert(`) THEN ${branch.action.kind === 'nothing' ? 'NULL' : i}`);
    }
    text.insert(' END');
  };
  const printBranch = (): void => {
    text.insert(`CASE WHEN ${t}._pos IS NOT NULL AND ${source.isThere} THEN `);
    choose('matched');
    text.insert(` WHEN ${source.isThere} THEN `);
    choose('not-matched');
    text.insert(' ELSE ');
    choose('not-matched-by-source');
    text.insert(` END AS ${BRANCH}`);
  };
  const isNested = branches.some(({ branch }) => mayHaveQuery(branch.condition));
  text.insert('SELECT ');
  if (isNested) text.insert(BRANCH);
  else printBranch();
  text.insert(', ');
  for (const field of fields) {
    const type = printSqlType(icebergSqlType(field.type));
    text.insert(`CASE ${BRANCH} WHEN -1 THEN CAST(NULL AS ${type})`);
    for (const [i, { values }] of branches.entries()) {
      if (values === null) continue;
      text.insert(` WHEN ${i} THEN CAST((`);
      copy(values.get(field) ?? `${t}.${quoteIdentifier(field.name)}`).insert(`) AS ${type})`);
    }
    text.insert(' END, ');
  }
  const written = ['-1', ...branches.flatMap(({ values }, i) => (values === null ? [] : [i]))];
  text.insert(`${t}._file, ${t}._pos, ${BRANCH} IN (${written.join(', ')}) FROM ${table} ${joinOf(branches)} JOIN `);
  source.print(text);
  text.insert(' ON (');
  copy(on);
  if (!isNested) return text.insert(`) WHERE ${BRANCH} IS NOT NULL`);
  text.insert('), LATERAL (SELECT ');
  printBranch();
  return text.insert(`) AS "skein merge" WHERE ${BRANCH} IS NOT NULL`);
}

const QUERY_WORDS = /\b(?:select|from|values|table|with)\b/;
const mayHaveQuery = (condition: TextSpan | null): boolean =>
  condition !== null && QUERY_WORDS.test(foldIdentifier(condition.text));

/** The join that keeps the rows which a branch may take. */
function joinOf(branches: readonly Branch[]): string {
  const has = (kind: MergeBranch['when']): boolean => branches.some(({ branch }) => branch.when === kind);
  if (has('not-matched')) return has('not-matched-by-source') ? 'FULL' : 'RIGHT';
  return has('not-matched-by-source') ? 'LEFT' : 'INNER';
}
