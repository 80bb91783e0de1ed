import { SkeinError } from '#shared/error.ts';
import { currentSchema, readTableMetadata, specById } from '#shared/iceberg/table-metadata.ts';
import { isObject } from '#shared/iceberg/type.ts';
import { replacedShape } from '#shared/iceberg/write/replaced-shape.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import { loadWithFiles, writeKey } from '../../catalog-client/write-catalog.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import type { WriteTarget } from '../../operation/writes.ts';
import { createTableBody, type NewTable } from './new-table.ts';
import { replacedColumns } from './replace-table.ts';
import { tableParams, type TablePlace } from './table-place.ts';

/** The table that a CREATE TABLE AS writes: the catalog stages it, and nothing is there until the commit. */
export async function createdTarget(
  { name }: Pick<TablePlace, 'name'>,
  table: NewTable,
  context: CommandContext,
): Promise<WriteTarget> {
  const { table: own, ...params } = tableParams(name);
  const body = { ...createTableBody(own ?? '', table), 'stage-create': true };
  const operation = { id: 'createTable', params, body };
  // Staging changes nothing, so the statement can still be stopped.
  const staged = await changeCatalog({ ...context, beginCommit: () => undefined }, operation);
  const metadata = isObject(staged) ? staged['metadata'] : undefined;
  if (!isObject(metadata)) throw new SkeinError('CATALOG_UNAVAILABLE', 'the catalog answered without table metadata');
  const base = readTableMetadata(metadata);
  const [schema, spec] = [currentSchema(base), specById(base, base.defaultSpecId)];
  const right = { allowedRoots: [base.location], credential: await writeKey(context, base) };
  return { name, shape: 'create', base, schema, spec, properties: {}, ...right, policies: [] };
}

/** The table that a CREATE OR REPLACE TABLE AS writes in place of another. @throws as `replaceTable`, NOT_SUPPORTED for another format version */
export async function replacedTarget(
  name: TablePlace['name'],
  table: NewTable,
  context: CommandContext,
): Promise<WriteTarget> {
  const found = await loadWithFiles(context, context.tables, { name, signal: context.signal });
  const { metadata: base, allowedRoots, credential } = found;
  const { fields, newId, properties } = replacedColumns(base, table);
  if (Number(table.properties['format-version']) !== base.formatVersion) {
    throw new SkeinError(
      'NOT_SUPPORTED',
      'CREATE OR REPLACE TABLE ... AS keeps the format version: drop the table first',
    );
  }
  const wanted = { schemaId: 0, fields, identifierFieldIds: [] };
  const partitions = table.partitions.map((field) => ({ ...field, sourceId: newId(field.sourceId) }));
  const { schema, spec } = replacedShape(base, wanted, partitions);
  return {
    name: found.name,
    shape: 'replace',
    base,
    schema,
    spec,
    properties,
    allowedRoots,
    credential,
    policies: found.policies,
  };
}
