import { SkeinError } from '#shared/error.ts';
import { metadataFolder } from '#shared/iceberg/table-folders.ts';
import { thetaOf, ThetaSketch } from '#shared/iceberg/theta-sketch.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { blobMetadata, encodePuffin, type PuffinBlob } from '#shared/iceberg/write/puffin-file.ts';
import { must } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { isPoliced } from '../operation/policed-table.ts';
import type { Analyze, Analyzed, WriteTarget } from '../operation/writes.ts';
import type { Queries, TextRows } from '../operation/queries.ts';
import { findColumn } from '../operation/find-column.ts';
import { wholeText } from '../statement/derived-text.ts';
import type { ObjectName } from '../statement/statement.ts';
import type { RowServices } from './replace-rows.ts';
import { readName, tableText } from './target-name.ts';
import { hashQuery, isHashed } from './theta-hash.ts';

type AnalyzeServices = {
  readonly queries: Pick<Queries, 'texts' | 'forget'>;
  readonly target: (name: ObjectName) => Promise<WriteTarget>;
  readonly begin: RowServices['begin'];
};

/** Columns whose distinct values one query counts. */
const COUNTED_AT_ONCE = 100;

/**
 * Counts the distinct values of columns, as a theta sketch of each in a Puffin file (blob type `apache-datasketches-theta-v1`), which is the
 * statistics file of the current snapshot:
 * ```
 * rough counts of all columns ─▶ theta of each ─▶ for each column: its distinct hashes below theta ─▶ Puffin file ─▶ set-statistics
 * ```
 * Both kinds of queries are distributed, and the second gives some 4,096 rows, however many values there are.
 * @throws COLUMN_NOT_FOUND, NOT_SUPPORTED for a column whose type has no sketch, COMMIT_CONFLICT when the snapshot has expired meanwhile
 */
export async function analyzeTable({ table, columns }: Analyze, services: AnalyzeServices): Promise<Analyzed> {
  const target = await services.target(table);
  const { base, schema } = target;
  const fields =
    columns === null
      ? schema.fields.filter(({ type }) => isHashed(type))
      : columns.map((name) => namedField(schema.fields, name));
  const { currentSnapshotId: snapshotId } = base;
  if (snapshotId === null || fields.length === 0) return { columns: [], bytesScanned: 0, fragments: 0 };
  const { sequenceNumber } = must(base.snapshots.get(snapshotId), 'the current snapshot is there');
  const cost = { bytesScanned: 0, fragments: 0 };
  const ask = async (sql: string, rows: TextRows): Promise<void> => {
    const span = { text: sql, offset: 0 };
    const { bytesScanned, fragments } = await services.queries.texts(span, wholeText(span), rows, 'raw');
    cost.bytesScanned += bytesScanned;
    cost.fragments += fragments;
  };
  const counts = await roughCounts(target, fields, ask);
  const sketches: ThetaSketch[] = [];
  for (const [i, field] of fields.entries()) {
    const sketch = new SketchedHashes(must(counts[i], 'a count for each column'));
    await ask(hashesBelow(target, field, sketch.theta), sketch);
    sketches.push(sketch.done());
  }
  // The statement's tables are loaded again when a snapshot expires while it waits.
  if ((await services.target(table)).base.currentSnapshotId !== snapshotId) throw expired();
  const blobs = fields.map((field, i): PuffinBlob => {
    const sketch = must(sketches[i], 'a sketch for each column');
    const properties = { ndv: String(sketch.distinct) };
    const type = 'apache-datasketches-theta-v1';
    return { type, fields: [field.id], snapshotId, sequenceNumber, properties, content: sketch.encode() };
  });
  await using write = await services.begin(target);
  const { bytes, footerBytes } = encodePuffin(blobs);
  // The id of the write is in the name: so the file goes when the write does not happen.
  const path = `${metadataFolder(base)}/${snapshotId}-${write.writeId}.stats`;
  await write.storage.write(path, bytes);
  const statistics = {
    'snapshot-id': snapshotId,
    'statistics-path': path,
    'file-size-in-bytes': bytes.length,
    'file-footer-size-in-bytes': footerBytes,
    'blob-metadata': blobs.map(blobMetadata),
  };
  await write.endInMetadata((now) => {
    if (!now.snapshots.has(snapshotId)) throw expired();
    return { updates: [{ action: 'set-statistics', 'snapshot-id': snapshotId, statistics }] };
  });
  return {
    columns: fields.map(({ name }, i) => {
      const { distinct } = must(sketches[i], 'a sketch for each column');
      return { name, distinct: isPoliced(target) ? null : distinct };
    }),
    ...cost,
  };
}

const expired = (): SkeinError => new SkeinError('COMMIT_CONFLICT', 'the snapshot that was read has expired meanwhile');

function namedField(fields: readonly Field[], name: ObjectName): Field {
  const { field } = findColumn(fields, name);
  if (isHashed(field.type)) return field;
  const message = `column ${field.name} is of the type ${field.type.kind}, whose values are not counted`;
  throw new SkeinError('NOT_SUPPORTED', message, { position: name.position });
}

type Ask = (sql: string, rows: TextRows) => Promise<void>;

/** HyperLogLog of DuckDB: right within some percent, which is enough to choose theta. */
async function roughCounts(target: WriteTarget, fields: readonly Field[], ask: Ask): Promise<readonly number[]> {
  const counts: number[] = [];
  for (let start = 0; start < fields.length; start += COUNTED_AT_ONCE) {
    const values = fields
      .slice(start, start + COUNTED_AT_ONCE)
      .map(({ name }) => `approx_count_distinct(${quoteIdentifier(name)})`);
    let row: readonly number[] = [];
    await ask(`SELECT CAST(json_array(${values.join(', ')}) AS VARCHAR) AS r FROM ${tableText(readName(target))}`, {
      start: () => {
        row = [];
      },
      add: ([text = '[]']) => {
        row = (JSON.parse(text) as readonly unknown[]).map(Number);
      },
    });
    counts.push(...row);
  }
  return counts;
}

/** Prints the query of a column's distinct hashes; a filter lets few of many pass, before they are grouped. */
const hashesBelow = (target: WriteTarget, { type, name: column }: Field, theta: bigint): string => {
  const hashes = hashQuery(type, quoteIdentifier(column), `FROM ${tableText(readName(target))}`);
  return `SELECT CAST(h AS VARCHAR) AS r FROM (SELECT DISTINCT h FROM (${hashes}) WHERE h < ${theta}::UBIGINT)`;
};

/** The hashes of a column as they come. */
class SketchedHashes implements TextRows {
  readonly theta: bigint;
  #sketch: ThetaSketch;

  constructor(distinct: number) {
    this.theta = thetaOf(distinct);
    this.#sketch = new ThetaSketch(this.theta);
  }

  start(): void {
    this.#sketch = new ThetaSketch(this.theta);
  }

  add(texts: readonly string[]): void {
    for (const text of texts) this.#sketch.add(BigInt(text));
  }

  done(): ThetaSketch {
    return this.#sketch;
  }
}
