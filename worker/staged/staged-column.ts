import type { StagedSource } from '#shared/task/task.ts';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';

/** A column of a stage's files, as tasks read it. */
export type Column = StagedSource['columns'][number];

export const nullOf = ({ name, type }: Pick<Column, 'name' | 'type'>): string =>
  `CAST(NULL AS ${type}) AS ${quoteIdentifier(name)}`;

/** The option `columns` of DuckDB's readers of text. */
export const structOf = (columns: readonly Pick<Column, 'name' | 'type'>[]): string =>
  `{${columns.map(({ name, type }) => `${quoteLiteral(name)}: ${quoteLiteral(type)}`).join(', ')}}`;

/** The options of DuckDB's readers of text for dates and times. */
export const timeOptions = ({
  dateFormat,
  timestampFormat,
}: Pick<CsvFormat, 'dateFormat' | 'timestampFormat'>): readonly string[] => [
  ...(dateFormat === null ? [] : [`dateformat = ${quoteLiteral(dateFormat)}`]),
  ...(timestampFormat === null ? [] : [`timestampformat = ${quoteLiteral(timestampFormat)}`]),
];
