import type { Field } from '#shared/iceberg/type.ts';
import { namedView, viewColumns } from '../binding/schema-views.ts';
import { requireTableAction, type TableName } from '../binding/table-source.ts';
import { fieldsOf, loadOneTable } from '../catalog-client/catalog-browser.ts';
import { schemaOf } from '../binding/view-definition.ts';
import { columnDefault, sqlTypeName } from '../session/sql-type-name.ts';
import type { ObjectName } from '../statement/statement.ts';
import { textResult, type Answer } from '../operation/answer.ts';
import { withNamePosition } from '../operation/with-name-position.ts';
import type { CommandContext } from '../operation/command-context.ts';
import { qualify } from '../operation/qualify.ts';

/** The columns of a table or view, also of one of INFORMATION_SCHEMA. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND */
export async function describeTable(name: ObjectName, context: CommandContext): Promise<Answer> {
  const known = namedView(name.parts);
  if (known !== undefined) {
    const { view, catalog } = known;
    if (catalog !== null) await withNamePosition(name, context.names.catalog(context.caller, catalog));
    return describeResult(viewColumns(view).map(([column, type]) => [column, type, 'YES', null]));
  }
  const table = await qualify(name, context);
  const { fields, intervals } = await withNamePosition(name, columnsFor(table, context));
  const rows = fields.map((field) => [
    field.name,
    intervals.includes(field.name) ? 'INTERVAL' : sqlTypeName(field.type),
    field.required ? 'NO' : 'YES',
    columnDefault(field.writeDefault),
  ]);
  return describeResult(rows);
}

/** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND, FORBIDDEN */
async function columnsFor(name: TableName, { tables, signal }: CommandContext): Promise<Columns> {
  const [loaded] = await tables.loadTables([name], signal);
  if (loaded?.kind !== 'view') {
    return { fields: fieldsOf((await loadOneTable(tables, name, signal)).metadata), intervals: [] };
  }
  requireTableAction(loaded, 'table.describe');
  const { view } = loaded;
  return { fields: schemaOf(view).fields, intervals: view.intervals };
}

type Columns = { readonly fields: readonly Field[]; readonly intervals: readonly string[] };

/** `[name, type, 'YES' | 'NO', default]` for each column. */
export const describeResult = (rows: readonly (readonly (string | null)[])[]): Answer =>
  textResult(['col_name', 'data_type', 'nullable', 'default'], rows);
