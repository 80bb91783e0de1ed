import type { MadeType, MadeValues } from '#shared/made-type.ts';
import { madeColumn, type MadeColumn, type MadeRow } from '../binding/made-columns.ts';
import type { Pages } from '../catalog-client/pages.ts';
import type { Answer, PagedAnswer } from './answer.ts';

/** The columns of rows that a statement makes, by their names and in their order: the type of each, and its value in a row. */
export type RowForm<Row> = Readonly<Record<string, ColumnForm<Row>>>;

type ColumnForm<Row> = {
  readonly [T in MadeType]: readonly [type: T, value: (row: Row) => MadeValues[T] | null];
}[MadeType];

export const formColumns = <Row>(form: RowForm<Row>): readonly MadeColumn[] =>
  Object.entries(form).map(([name, [type]]) => madeColumn(name, type));

const formRow = <Row>(form: RowForm<Row>, row: Row): MadeRow => Object.values(form).map(([, value]) => value(row));

export const formAnswer = <Row>(form: RowForm<Row>, rows: readonly Row[]): Answer => ({
  columns: formColumns(form),
  rows: rows.map((row) => formRow(form, row)),
});

export const formPages = <Row>(form: RowForm<Row>, pages: Pages<Row>): PagedAnswer => ({
  columns: formColumns(form),
  pages: pagesOf(form, pages),
});

async function* pagesOf<Row>(form: RowForm<Row>, pages: Pages<Row>): Pages<MadeRow> {
  for await (const rows of pages) yield rows.map((row) => formRow(form, row));
}
