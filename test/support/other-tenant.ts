import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printJson, type Json } from '#shared/json.ts';
import type { Cluster } from './cluster.ts';

/** Names of a second tenant with a table and a file, which the first must never see; for `${...}` in a .slt file. */
export type OtherTenant = {
  readonly other_catalog: string;
  readonly other_namespace: string;
  readonly other_table: string;
  readonly other_file: string;
};

const TENANT = 'rival';
const CATALOG = 'rival_lake';
const USER = 'rival_admin';

/** Makes the tenant as an operator does; a copy of `parquetFile` lies in its table's folder. */
export async function createOtherTenant(cluster: Cluster, parquetFile: string): Promise<OtherTenant> {
  await cluster.cliOk(['admin', 'tenant', 'create', TENANT, '--user', USER]);
  await cluster.cliOk(['admin', 'catalog', 'create', CATALOG, '--tenant', TENANT]);
  const token = await cluster.token({ tenant: TENANT, user: USER });
  const post = async (path: string, body: Json): Promise<Json> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const url = `${cluster.catalogUrl}/v1/${CATALOG}${path}`;
    const response = await fetch(url, { method: 'POST', headers, body: printJson(body) });
    if (!response.ok) throw new Error(`${path}: HTTP ${response.status} ${await response.text()}`);
    return (await response.json()) as Json;
  };
  await post('/namespaces', { namespace: ['private'] });
  const schema = { type: 'struct', 'schema-id': 0, fields: [{ id: 1, name: 'id', required: false, type: 'int' }] };
  const created = await post('/namespaces/private/tables', { name: 'secrets', schema });
  const { metadata } = created as { metadata: { location: string } };
  const folder = join(fileURLToPath(new URL(metadata.location)), 'data');
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'secret.parquet');
  await copyFile(parquetFile, file);
  return { other_catalog: CATALOG, other_namespace: 'private', other_table: 'secrets', other_file: file };
}
