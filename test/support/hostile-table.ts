import { newManifestFile, writeManifestList } from '#test/support/manifest-files.ts';
import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import { fileStorage } from '#test/support/file-storage.ts';
import { SCHEMA, setMain, snapshot } from './catalog-requests.ts';
import type { Cluster } from './cluster.ts';

/** A request to one catalog, below `/v1/<catalog>`. @throws what an answer other than 2xx says */
export type CatalogPost = (path: string, body: object) => Promise<JsonObject>;

/** A table whose manifests are arbitrary bytes. */
export type HostileTable = { readonly name: string; readonly location: string; readonly manifests: readonly string[] };

/** Makes a table in the namespace `default` whose snapshot consists of these manifests. */
export async function createHostileTable(
  post: CatalogPost,
  name: string,
  manifests: readonly Uint8Array[],
): Promise<HostileTable> {
  const created = await post('/namespaces/default/tables', { name, schema: SCHEMA });
  const { location } = created['metadata'] as { location: string };
  const paths = manifests.map((_bytes, i) => `${location}/metadata/m${i}.avro`);
  await Promise.all(manifests.map((bytes, i) => fileStorage.write(paths[i] ?? '', bytes)));
  const schema = { schemaId: 0, fields: [], identifierFieldIds: [] };
  const spec = { specId: 0, fields: [] };
  const listed = manifests.map((bytes, i) => ({
    ...newManifestFile(schema, spec, 1n, { path: paths[i] ?? '', lengthBytes: bytes.length, files: [] }),
    addedFiles: 1,
  }));
  const ids = { snapshotId: 1n, parentSnapshotId: null, sequenceNumber: 1n };
  await fileStorage.write(`${location}/metadata/snap.avro`, writeManifestList(ids, listed));
  await post(`/namespaces/default/tables/${name}`, { updates: [snapshot(location, 1), setMain(1)] });
  return { name, location, manifests: paths };
}

/** Requests of a principal to its catalog. */
export function catalogPost(catalogUrl: string, catalog: string, token: string): CatalogPost {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return async (path, body) => {
    const url = `${catalogUrl}/v1/${catalog}${path}`;
    const response = await fetch(url, { method: 'POST', headers, body: printJson(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: HTTP ${response.status} ${text.slice(0, 500)}`);
    return text === '' ? {} : (JSON.parse(text) as { readonly [key: string]: Json });
  };
}

export const RIVAL_TENANT = 'rival';
export const RIVAL_CATALOG = 'rival_lake';

/** Makes the attackers' tenant, with a catalog and a namespace `default`, as an operator does. */
export async function createRival(cluster: Cluster): Promise<{ readonly token: string; readonly post: CatalogPost }> {
  await cluster.cliOk(['admin', 'tenant', 'create', RIVAL_TENANT, '--user', 'mallory']);
  await cluster.cliOk(['admin', 'catalog', 'create', RIVAL_CATALOG, '--tenant', RIVAL_TENANT]);
  const token = await cluster.token({ tenant: RIVAL_TENANT, user: 'mallory' });
  const post = catalogPost(cluster.catalogUrl, RIVAL_CATALOG, token);
  await post('/namespaces', { namespace: ['default'] });
  return { token, post };
}
