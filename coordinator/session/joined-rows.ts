import type { TableRows } from '../binding/table-rows.ts';

/** Rows one after the other: the first has the message of the schema, which all have. */
export function joinedRows(about: Pick<TableRows, 'title' | 'columns'>, parts: readonly TableRows[]): TableRows {
  return {
    ...about,
    rowCount: parts.reduce((count, one) => count + one.rowCount, 0),
    bytes: parts.reduce((bytes, one) => bytes + one.bytes, 0),
    messages: parts.flatMap(({ messages }, i) => (i === 0 ? messages : messages.slice(1))),
  };
}
