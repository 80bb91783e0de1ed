import { setImmediate } from 'node:timers/promises';
import { FrameWriter, readFrames, type Frames } from '#shared/thread/frames.ts';
import type { Schema } from './schema.ts';
import { addFields, inOrderOfFields, type Snapshot, type TableMetadata } from './table-metadata.ts';
import type { Field } from './type.ts';

/** A part of a table's metadata on its way from the thread that parsed it; long lists come in several parts. */
export type MetadataPart =
  | { readonly kind: 'table'; readonly table: Omit<TableMetadata, 'schemas' | 'fields' | 'snapshots' | 'snapshotLog'> }
  | { readonly kind: 'schema'; readonly schema: Schema }
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot }
  | { readonly kind: 'log'; readonly entry: TableMetadata['snapshotLog'][number] };

/** Approximate bytes of one field. */
const FIELD_BYTES = 100;
const SNAPSHOT_BYTES = 500;
const ENTRY_BYTES = 50;

export function packMetadata(metadata: TableMetadata): Frames<MetadataPart> {
  const { schemas, fields: _fields, snapshots, snapshotLog, ...table } = metadata;
  const writer = new FrameWriter<MetadataPart>(() => undefined);
  writer.add({ kind: 'table', table }, 0);
  for (const schema of schemas) writer.add({ kind: 'schema', schema }, schema.fields.length * FIELD_BYTES);
  for (const snapshot of snapshots.values()) writer.add({ kind: 'snapshot', snapshot }, SNAPSHOT_BYTES);
  for (const entry of snapshotLog) writer.add({ kind: 'log', entry }, ENTRY_BYTES);
  return writer.finish();
}

/** Restores the metadata from its parts; other work runs between them. */
export async function unpackMetadata(frames: Frames<MetadataPart>): Promise<TableMetadata> {
  const schemas: Schema[] = [];
  const snapshots = new Map<bigint, Snapshot>();
  const snapshotLog: TableMetadata['snapshotLog'][number][] = [];
  let table: Extract<MetadataPart, { kind: 'table' }>['table'] | undefined;
  for await (const parts of readFrames(frames)) {
    for (const part of parts) {
      if (part.kind === 'table') table = part.table;
      else if (part.kind === 'schema') schemas.push(part.schema);
      else if (part.kind === 'snapshot') snapshots.set(part.snapshot.snapshotId, part.snapshot);
      else snapshotLog.push(part.entry);
    }
  }
  if (table === undefined) throw new Error('invariant: the table comes first');
  return { ...table, schemas, snapshots, snapshotLog, fields: await fieldsOf(schemas, table.currentSchemaId) };
}

async function fieldsOf(schemas: readonly Schema[], currentSchemaId: number): Promise<ReadonlyMap<number, Field>> {
  const byId = new Map<number, Field>();
  let fields = 0;
  for (const schema of inOrderOfFields(schemas, currentSchemaId)) {
    addFields(byId, schema);
    fields += schema.fields.length;
    if (fields < FIELDS_PER_TURN) continue;
    fields = 0;
    await setImmediate();
  }
  return byId;
}

const FIELDS_PER_TURN = 5_000;
