import type { SqlText } from '#proto/sql-text.ts';
import { unreachable } from '#shared/must.ts';
import { arrowRows } from './arrow-rows.ts';
import { arrowSchema } from './arrow-schema.ts';
import { jsonRows } from './json-rows.ts';
import { RecordBatchReader } from './record-batch-reader.ts';
import type { BatchReader, Encoding, ResultShape } from './result-sink.ts';
import { TextColumnReader } from './text-column.ts';

/** An encoding for the rows of one query. */
export type RowEncoding = {
  /** Wraps the text of the last fragment, so that its rows come in this form. */
  readonly sql: (sql: SqlText) => SqlText;
  readonly newReader: () => BatchReader;
};

export function rowEncoding(encoding: Encoding, { columns, timeZone }: ResultShape): RowEncoding {
  const types = columns.map(({ type }) => type);
  switch (encoding) {
    case 'json':
      return { sql: (sql) => jsonRows(sql, types), newReader: () => new TextColumnReader() };
    case 'arrow': {
      const schema = arrowSchema({ columns, timeZone });
      return { sql: (sql) => arrowRows(sql, types), newReader: () => new RecordBatchReader(schema) };
    }
    default:
      return unreachable(encoding);
  }
}
