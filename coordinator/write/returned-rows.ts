import { randomUUID } from 'node:crypto';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { partitionJson } from '#shared/iceberg/address-facts.ts';
import type { PositionSet } from '#shared/iceberg/position-set.ts';
import { literalToJson } from '#shared/iceberg/single-value.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { encodeVectors } from '#shared/iceberg/write/puffin.ts';
import { partitionTypes } from '#shared/iceberg/write/manifest-rows.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { Storage } from '#shared/storage/storage.ts';
import type { Description } from '../operation/description.ts';
import type { Queries, ReturnedFiles, Returning } from '../operation/queries.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { WriteTarget } from '../operation/writes.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { Proven } from '../statement/proven.ts';
import { SplicedText } from '../statement/spliced-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import { targetSource } from './target-name.ts';

/** A statement that may have RETURNING. */
type ReturningStatement = {
  readonly alias?: string | null;
  readonly returning: Proven<'list'> | null;
  /** A part of the statement's text that has RETURNING in it. */
  readonly rest: TextSpan;
};

/**
 * Plans the rows that a statement returns: its list as a query of the table, which is read from the files that the statement has written, or
 * from the rows that it deletes. Null without RETURNING.
 */
export async function planReturning(
  statement: ReturningStatement,
  target: WriteTarget,
  { queries, of }: { readonly queries: Pick<Queries, 'returning'>; readonly of: ReturnedFiles },
): Promise<Returning | null> {
  const { returning } = statement;
  return returning === null ? null : queries.returning(returning, returningQuery(returning, statement, target), of);
}

/** Its columns and parameters; null without RETURNING. */
export async function describeReturning(
  statement: ReturningStatement,
  target: WriteTarget,
  queries: Pick<Queries, 'describe'>,
): Promise<Description | null> {
  const { returning } = statement;
  return returning === null ? null : queries.describe(returning, returningQuery(returning, statement, target));
}

function returningQuery(list: Proven<'list'>, { alias }: ReturningStatement, target: WriteTarget): DerivedText {
  const { source } = targetSource(target, alias ?? null);
  return new SplicedText(list).insert('SELECT ').splice(list).insert(`FROM ${source}`);
}

/** New files of a table as a scan reads them. */
export function writtenFiles(
  { schema, spec }: Pick<WriteTarget, 'schema' | 'spec'>,
  files: readonly NewDataFile[],
): readonly ScanFile[] {
  const types = partitionTypes(schema, spec);
  const constantsOf = ({ partition }: NewDataFile): JsonObject => {
    const constants: Record<string, Json> = {};
    for (const [i, { sourceId, transform }] of spec.fields.entries()) {
      const [value, type] = [partition[i] ?? null, must(types[i], 'a type for each field')];
      if (transform.kind === 'identity') constants[sourceId] = value === null ? null : literalToJson(type, value);
    }
    return constants;
  };
  return files.map((file) => ({
    path: file.path,
    recordCount: file.recordCount,
    sizeBytes: file.sizeBytes,
    rows: null,
    constants: constantsOf(file),
    deletes: [],
    firstRowId: null,
    partition: partitionJson(file, { spec, types }),
    specId: spec.specId,
  }));
}

/** Files of which a scan reads some rows only: they are given a deletion vector of all others, which nobody else sees. */
export async function deletedFiles(
  all: readonly ScanFile[],
  deleted: ReadonlyMap<string, PositionSet>,
  { storage, folder }: { readonly storage: Storage; readonly folder: string },
): Promise<readonly ScanFile[]> {
  const files = all.filter(({ path }) => deleted.has(path));
  const others = files.map((file) => ({
    dataFile: file.path,
    positions: must(deleted.get(file.path), 'it is there').others(file.recordCount),
  }));
  if (files.length === 0) return [];
  const path = `${folder}/${randomUUID()}.puffin`;
  const { bytes, vectors } = encodeVectors(others);
  await storage.write(path, bytes);
  return files.map((file, i) => {
    const { offset, lengthBytes, cardinality } = must(vectors[i], 'a vector for each file');
    const deletes = cardinality === 0 ? [] : [{ kind: 'vector', path, offset, lengthBytes, cardinality } as const];
    return { ...file, deletes };
  });
}

/** Number of rows in new files. */
export const rowsOf = (files: readonly NewDataFile[]): number =>
  files.reduce((sum, { recordCount }) => sum + recordCount, 0);

type Cost = Omit<Outcome, 'rowsProduced'>;

/** The cost of all parts of a statement. */
export const costOf = (...parts: readonly (Cost | undefined)[]): Cost => ({
  bytesScanned: parts.reduce((sum, part) => sum + (part?.bytesScanned ?? 0), 0),
  fragments: parts.reduce((sum, part) => sum + (part?.fragments ?? 0), 0),
});
