import { SkeinError } from '#shared/error.ts';
import { currentSchema, specById } from '#shared/iceberg/table-metadata.ts';
import { writtenVersion } from '#shared/iceberg/write/commit-writes.ts';
import { requireWritable } from '#shared/iceberg/write/require-writable.ts';
import type { TableName } from '../binding/table-source.ts';
import { loadWithFiles } from '../catalog-client/write-catalog.ts';
import { withNamePosition } from '../operation/with-name-position.ts';
import type { CommandContext } from '../operation/command-context.ts';
import { qualify } from '../operation/qualify.ts';
import type { WriteTarget } from '../operation/writes.ts';
import { suffixedName } from '../resolver/table-suffix.ts';
import type { ObjectName } from '../statement/statement.ts';
import { atBranch } from './branch-target.ts';

/** The table that a statement names. @throws as a query of the table does, FORBIDDEN, NOT_SUPPORTED for a table that cannot be written */
export function namedTarget(name: ObjectName, context: CommandContext): Promise<WriteTarget> {
  const found = qualify(name, context).then((table) => orBranch(table, context));
  return withNamePosition(name, found);
}

/** The table of this name, else that of its first part at the branch of the second: `orders@june`. */
async function orBranch(table: TableName, context: CommandContext): Promise<WriteTarget> {
  const suffix = suffixedName(table.table, 0);
  if (suffix?.travel?.kind !== 'ref' || suffix.metadataTable !== null) return targetOf(table, context);
  const [whole] = await context.tables.loadTables([table], context.signal);
  if (whole?.kind !== 'missing' || whole.code !== 'TABLE_NOT_FOUND') return targetOf(table, context);
  return atBranch(await targetOf({ ...table, table: suffix.table }, context), suffix.travel.ref);
}

/** A table as its next snapshot has it. @throws FORBIDDEN, NOT_SUPPORTED for a table that cannot be written */
export async function targetOf(table: TableName, context: CommandContext): Promise<WriteTarget> {
  const { tables, signal } = context;
  const found = await loadWithFiles(context, tables, { name: table, signal });
  const { name, metadata: base, allowedRoots, credential, policies } = found;
  const schema = currentSchema(base);
  writtenVersion(base);
  requireWritable(schema.fields);
  const spec = specById(base, base.defaultSpecId);
  const unknown = spec.fields.find(({ transform }) => transform.kind === 'unknown');
  if (unknown !== undefined) {
    throw new SkeinError('NOT_SUPPORTED', `the transform of the partition field ${unknown.name} is not known`);
  }
  return { name, shape: 'keep', base, schema, spec, allowedRoots, credential, policies };
}
