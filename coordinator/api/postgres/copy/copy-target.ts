import { ARRIVED_ROWS } from '../../../binding/table-rows.ts';
import type { CopiedColumn } from '../../../arrival/copied/row-format.ts';
import { printSqlType, type SqlType } from '../../../plan/sql-type.ts';
import type { QueryColumn } from '../../../session/prepared-statement.ts';
import type { CopyStatement } from './copy-statement.ts';
import { isSameColumn } from './copy-statement.ts';
import { postgresColumn } from '../message/postgres-type.ts';

/** The statements of the engine over the rows that COPY FROM STDIN has brought. */

type CopyFrom = Extract<CopyStatement, { direction: 'in' }>;

/** The columns of the rows. */
export function copiedColumns(columns: readonly QueryColumn[], { options }: CopyFrom): readonly CopiedColumn[] {
  const { forceNotNull, forceNull } = options;
  const has = (names: typeof forceNull, name: string): boolean =>
    names === '*' || names.some((one) => isSameColumn(one, name));
  return columns.map((column) => {
    const { kind, element } = postgresColumn(column);
    return {
      name: column.name,
      kind,
      element: element === undefined || element === 'array' ? null : element,
      neverNull: has(forceNotNull, column.name),
      nullInQuotes: has(forceNull, column.name),
    };
  });
}

/** The statement that describes its columns, and needs no right but that to write. */
export const describingInsert = ({ table, columns }: CopyFrom): string =>
  `INSERT INTO ${table.text} DEFAULT VALUES RETURNING ${columns === null ? '*' : listText(columns)}`;

const listText = (columns: readonly { readonly text: string }[]): string => columns.map(({ text }) => text).join(', ');

/** The statement that writes the rows. */
export function insertOfCopied({ table, columns }: CopyFrom, types: readonly QueryColumn[]): string {
  const list = columns === null ? '' : ` (${listText(columns)})`;
  return `INSERT INTO ${table.text}${list} SELECT ${types.map((type, i) => cast(type, i, 'CAST')).join(', ')} FROM ${ARRIVED_ROWS}`;
}

/**
 * The query that finds the first value of each column that is none of its type: pairs of its line and its text. Null when there is no column
 * whose values are cast.
 */
export function faultsOfCopied(
  types: readonly QueryColumn[],
): { readonly sql: string; readonly columns: readonly number[] } | null {
  const columns = types.flatMap((type, i) => (isAsIs(type) ? [] : [i]));
  const line = `c${types.length}`;
  const pairs = columns.flatMap((i) => {
    const type = types[i];
    if (type === undefined) return [];
    const isWrong = `c${i} IS NOT NULL AND ${cast(type, i, 'TRY_CAST')} IS NULL`;
    return [
      `min(${line}) FILTER (WHERE ${isWrong})`,
      `CAST(arg_min(c${i}, ${line}) FILTER (WHERE ${isWrong}) AS VARCHAR)`,
    ];
  });
  return pairs.length === 0 ? null : { sql: `SELECT ${pairs.join(', ')} FROM ${ARRIVED_ROWS}`, columns };
}

const isAsIs = ({ type }: QueryColumn): boolean =>
  type.kind === 'scalar' && (type.name === 'VARCHAR' || type.name === 'BLOB' || type.name === 'BOOLEAN');

function cast(column: QueryColumn, i: number, word: 'CAST' | 'TRY_CAST'): string {
  const { type } = column;
  if (type.kind === 'scalar' && (type.name === 'VARCHAR' || type.name === 'BLOB')) return `c${i}`;
  const { kind } = postgresColumn(column);
  const input = kind === 'jsonb' && !isJson(type) ? `${word}(c${i} AS JSON)` : `c${i}`;
  return `${word}(${input} AS ${printSqlType(type)})`;
}

const isJson = (type: SqlType): boolean => type.kind === 'scalar';
