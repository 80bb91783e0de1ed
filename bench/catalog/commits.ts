import { must } from '#shared/must.ts';
import type { CatalogClients } from './catalog-clients.ts';
import { namespacePath, TABLE, tablePath } from './data-set.ts';

const SCRATCH = 'scratch';

/** A table of a benchmark to which one client appends; its snapshots name files that nobody reads. */
export type AppendedTable = {
  readonly path: string;
  readonly location: string;
  readonly uuid: string;
  snapshots: number;
};

/** A new table in a namespace of its own, empty. */
export async function newTable(clients: CatalogClients, name: string): Promise<AppendedTable> {
  await clients.request(0, 'POST', '/v1/lake/namespaces', { namespace: [SCRATCH] }, { expected: [200, 409] });
  const path = tablePath(SCRATCH, name);
  await clients.request(0, 'DELETE', path, undefined, { expected: [204, 404] });
  const created = await clients.request(0, 'POST', `${namespacePath(SCRATCH)}/tables`, { name, ...TABLE });
  const { metadata } = JSON.parse(created.body.toString()) as { metadata: { location: string; 'table-uuid': string } };
  return { path, location: metadata.location, uuid: metadata['table-uuid'], snapshots: 0 };
}

/** Appends a snapshot as an engine does: on top of the last one, with the requirement that it still is. */
export async function append(clients: CatalogClients, client: number, table: AppendedTable): Promise<void> {
  const parent = table.snapshots === 0 ? null : table.snapshots;
  const id = table.snapshots + 1;
  await clients.request(client, 'POST', table.path, {
    requirements: [
      { type: 'assert-table-uuid', uuid: table.uuid },
      { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': parent },
    ],
    updates: [
      {
        action: 'add-snapshot',
        snapshot: {
          'snapshot-id': id,
          ...(parent === null ? {} : { 'parent-snapshot-id': parent }),
          'sequence-number': id,
          'timestamp-ms': Date.now(),
          'manifest-list': `${table.location}/metadata/snap-${id}.avro`,
          summary: { operation: 'append', 'added-records': '1000', 'total-records': String(id * 1_000) },
          'schema-id': 0,
        },
      },
      { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': id },
    ],
  });
  table.snapshots = id;
}

/** Makes a commit that cannot conflict, so that the catalog can serialise concurrent writers of one table. */
export const setProperty = (clients: CatalogClients, client: number, table: AppendedTable): Promise<unknown> =>
  clients.request(client, 'POST', table.path, {
    requirements: [{ type: 'assert-table-uuid', uuid: table.uuid }],
    updates: [{ action: 'set-properties', updates: { [`writer-${client}`]: String(Date.now()) } }],
  });

/** The client's own table. */
export const ownTable = (tables: readonly AppendedTable[], client: number): AppendedTable =>
  must(tables[client], 'a table per client');
