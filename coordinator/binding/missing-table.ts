import { SkeinError } from '#shared/error.ts';
import { didYouMean } from '#shared/nearest-name.ts';
import type { MissingCode, TableName, TableSource } from './table-source.ts';

/** The error for a table that does not exist, with a similar name as a hint. */
export async function missingTable(name: TableName, code: MissingCode, source: TableSource): Promise<SkeinError> {
  return new SkeinError(code, `${messageOf(name, code)}${didYouMean(await source.nearest(name, code))}`);
}

function messageOf(name: TableName, code: MissingCode): string {
  const schema = [name.catalog, ...name.namespace].join('.');
  if (code === 'CATALOG_NOT_FOUND') return `catalog ${name.catalog} does not exist`;
  return code === 'SCHEMA_NOT_FOUND'
    ? `schema ${schema} does not exist`
    : `table ${schema}.${name.table} does not exist`;
}
