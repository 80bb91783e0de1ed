import { SkeinError } from '#shared/error.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { loadOneTable } from '../../catalog-client/catalog-browser.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { ObjectName, TextSpan } from '../../statement/statement.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeColumns, type ColumnsClause } from '../clause/columns.ts';
import { takeIfNotExists } from '../clause/exists.ts';
import { takeTableClauses, type TableClauses } from '../clause/table-clauses.ts';
import type { Command } from '../command.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import type { Outcome } from '../../operation/outcome.ts';
import { nameTaken, otherKind, underName } from './name-taken.ts';
import { qualify } from '../../operation/qualify.ts';
import { startsQuery } from '../query-words.ts';
import { changeTable } from '../../operation/change-table.ts';
import { tableLike } from './like-table.ts';
import {
  createTableBody,
  declaredColumns,
  FORMAT_VERSION_DEFAULT,
  formatVersionOf,
  newTable,
  type FormatVersion,
  type NewTable,
} from './new-table.ts';
import { createdTarget, replacedTarget } from './new-target.ts';
import { queryColumns } from './query-columns.ts';
import { NO_POLICY_VERSION } from '#shared/policy/policy-version.ts';
import { replaceTable } from './replace-table.ts';
import { tableParams, tablePlace, type TablePlace } from './table-place.ts';

type CreateTable = {
  readonly orReplace: boolean;
  readonly ifNotExists: boolean;
  readonly name: ObjectName;
  /** The columns, the table that they are copied from, or the query whose columns and rows they are. */
  readonly shape: Columns | { readonly query: TextSpan };
  readonly clauses: TableClauses;
};

type Columns = ColumnsClause | { readonly like: ObjectName };

/**
 * `CREATE [OR REPLACE] TABLE [IF NOT EXISTS] name (columns) | LIKE other [PARTITIONED BY (...)] [SORTED BY (...)] [COMMENT 'text']
 * [WITH (...)]`, and `CREATE ... name [PARTITIONED BY (...)] [COMMENT 'text'] [WITH (...)] AS query`
 */
export const createTable: Command<CreateTable> = {
  words: ['CREATE TABLE', 'CREATE OR REPLACE TABLE'],
  queryType: 'ddl',
  typeOf: ({ shape }) => ('query' in shape ? 'ctas' : 'ddl'),
  timeout: 'session',
  parse(reader) {
    const orReplace = reader.peekWord(1) === 'OR';
    reader.words(orReplace ? 4 : 2);
    const ifNotExists = takeIfNotExists(reader);
    if (ifNotExists && orReplace) throw reader.error('SYNTAX_ERROR', 'OR REPLACE and IF NOT EXISTS exclude each other');
    const name = reader.name('a table', 3);
    checkIdentifier(name.parts.at(-1) ?? '', name.position);
    const columns = BEFORE_QUERY.has(reader.peekWord()) ? null : takeShape(reader);
    const clauses = takeTableClauses(reader);
    const shape = columns ?? takeQuery(reader);
    if (columns !== null) reader.end();
    return { orReplace, ifNotExists, name, shape, clauses };
  },
  inTransaction: () => true,
  action: () => 'table.create',
  answers: ({ shape }) => ({ kind: 'query' in shape ? 'count' : 'nothing' }),
  queryIn: ({ shape }) => ('query' in shape ? shape.query : null),
  async run({ name, shape, clauses, orReplace, ifNotExists }, context) {
    const place = await withNamePosition(name, tablePlace(name, context));
    if (place.view !== undefined) throw orReplace ? otherKind(place.view, 'table', name) : nameTaken(place.view, name);
    if ('query' in shape)
      return createAs({ name, clauses, orReplace, ifNotExists, query: shape.query }, place, context);
    const define = await definition(shape, clauses, context);
    const status = hasKey(shape) ? statusResult(WITH_KEY, 'CREATE TABLE') : statusResult('CREATE TABLE');
    if (place.existing !== undefined && !orReplace) {
      if (!ifNotExists) throw nameTaken(place.existing, name);
      return context.answer(status);
    }
    if (place.existing === undefined) {
      const isMade = await create(place, define(null), context).catch((error: unknown) => {
        const { code } = SkeinError.of(error);
        if (code === 'TABLE_EXISTS' && (ifNotExists || orReplace)) return ifNotExists;
        return underName(name, Promise.reject(error));
      });
      if (isMade) return context.answer(status);
    }
    requireNoPolicies(place.existing, name);
    await changeTable(context, place.name, (base) => replaceTable(base, define(base)));
    return context.answer(status);
  },
};

const WITH_KEY = 'CREATE TABLE (the PRIMARY KEY is recorded, not enforced)';

/** Words that may stand behind the name of a table that has no list of columns. */
const BEFORE_QUERY: ReadonlySet<string> = new Set(['AS', 'PARTITIONED', 'SORTED', 'COMMENT', 'WITH']);

function takeQuery(reader: StatementReader): { readonly query: TextSpan } {
  if (!reader.takeWord('AS')) throw reader.expected('AS and a query');
  if (!startsQuery(reader) && reader.peekWord() !== 'TABLE') throw reader.expected('a query');
  return { query: reader.takeRest() };
}

/** A table that takes another's place has columns of its own, and policies are bound to those of the other. @throws POLICY_IN_USE */
function requireNoPolicies(existing: TablePlace['existing'], { parts, position }: ObjectName): void {
  if (existing === undefined || existing.policyVersion === NO_POLICY_VERSION) return;
  const message = `policies are bound to the table ${parts.join('.')}, which is not replaced therefore`;
  throw new SkeinError('POLICY_IN_USE', message, { position });
}

type CreateAs = Omit<CreateTable, 'shape'> & { readonly query: TextSpan };

async function createAs(
  { name, clauses, orReplace, ifNotExists, query }: CreateAs,
  place: TablePlace,
  context: CommandContext,
): Promise<Outcome> {
  const { existing } = place;
  if (existing !== undefined && !orReplace) {
    if (!ifNotExists) throw nameTaken(existing, name);
    return context.answerCount(0);
  }
  requireNoPolicies(existing, name);
  if (clauses.sortedBy !== undefined) {
    throw new SkeinError(
      'NOT_SUPPORTED',
      'CREATE TABLE ... AS takes no SORTED BY: ORDER BY sorts the rows that it writes',
    );
  }
  const version = formatVersionOf(clauses, existing?.metadata.formatVersion === 3 ? 3 : FORMAT_VERSION_DEFAULT);
  const made = context.writes.createAs(query, (columns) => {
    const table = newTable(queryColumns(columns, query.offset), clauses, version);
    return existing === undefined
      ? createdTarget(place, table, context)
      : replacedTarget(existing.name, table, context);
  });
  const { count, ...outcome } = await underName(name, made);
  return { ...(await context.answerCount(count)), ...outcome };
}

function takeShape(reader: StatementReader): Columns {
  if (reader.takeWord('LIKE')) return { like: reader.name('a table', 3) };
  const isLike = reader.peekSymbol('(') && reader.peekWord(1) === 'LIKE' && reader.peekWord(2) !== '';
  if (!isLike) return takeColumns(reader);
  reader.takeSymbol('(');
  reader.word();
  const like = reader.name('a table', 3);
  if (!reader.takeSymbol(')')) throw reader.expected("')'");
  return { like };
}

/** Returns what makes the new table; `base` is the one that it replaces, whose format version it keeps. */
async function definition(
  shape: Columns,
  clauses: TableClauses,
  context: CommandContext,
): Promise<(base: TableMetadata | null) => NewTable> {
  const versionOf = (fallback: TableMetadata | null): FormatVersion =>
    formatVersionOf(clauses, fallback?.formatVersion === 3 ? 3 : FORMAT_VERSION_DEFAULT);
  if (!('like' in shape)) {
    return (base) => newTable(declaredColumns(shape, versionOf(base)), clauses, versionOf(base));
  }
  const other = await qualify(shape.like, context);
  const { metadata } = await withNamePosition(shape.like, loadOneTable(context.tables, other, context.signal));
  return (base) => tableLike(metadata, clauses, versionOf(base ?? metadata));
}

/** Creates the table. @returns true @throws TABLE_EXISTS and other errors of the catalog */
async function create({ name }: TablePlace, table: NewTable, context: CommandContext): Promise<true> {
  const { table: own, ...params } = tableParams(name);
  const operation = { id: 'createTable', params, body: createTableBody(own ?? '', table) };
  await changeCatalog(context, operation);
  return true;
}

const hasKey = (shape: Columns): boolean =>
  'columns' in shape && (shape.key.length > 0 || shape.columns.some(({ isKey }) => isKey));
