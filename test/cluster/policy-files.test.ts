import { beforeAll, expect, test } from 'vitest';
import type { Json, JsonObject } from '#shared/json.ts';
import { hasLocalFiles, sharedCluster } from '#test/support/resources.ts';
import { catalogPost, createHostileTable, type CatalogPost } from '#test/support/hostile-table.ts';
import { SCHEMA, setMain, snapshot } from '#test/support/catalog-requests.ts';
import { fileStorage } from '#test/support/file-storage.ts';
import { newManifestFile, writeManifest, writeManifestList } from '#test/support/manifest-files.ts';
import type { Cluster } from '#test/support/cluster.ts';

/** Files of a table with policies, which manifests of other tables name. */
const T = 'policy_files';
const S = `${T}.default`;
let cluster: Cluster;
let token: string;
let post: CatalogPost;

async function run(sql: string, user = 'root'): Promise<readonly (readonly Json[])[] | string> {
  const { body } = await cluster.query(sql, { token: await cluster.token({ tenant: T, user }) });
  return body.error === undefined ? (body.rows ?? []) : `${body.error}: ${body.message ?? ''}`;
}
async function done(...statements: readonly string[]): Promise<void> {
  for (const sql of statements) expect([sql, await run(sql, 'root')]).toEqual([sql, expect.any(Array)]);
}
async function first(sql: string): Promise<readonly Json[]> {
  const rows = await run(sql);
  expect([sql, rows]).toEqual([sql, [expect.any(Array)]]);
  return rows[0] as readonly Json[];
}
const rest = async (
  method: string,
  path: string,
  user: string,
  body?: object,
): Promise<readonly [number, JsonObject]> => {
  const headers = {
    authorization: `Bearer ${await cluster.token({ tenant: T, user })}`,
    'content-type': 'application/json',
  };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${cluster.catalogUrl}/v1/${T}${path}`, { method, headers, ...sent });
  const text = await answer.text();
  return [answer.status, text === '' ? {} : (JSON.parse(text) as JsonObject)];
};

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'tenant', 'create', T, '--user', 'root']);
  await cluster.cliOk(['admin', 'catalog', 'create', T, '--tenant', T]);
  token = await cluster.token({ tenant: T, user: 'root' });
  post = catalogPost(cluster.catalogUrl, T, token);
  await done(
    `CREATE SCHEMA ${S}`,
    `CREATE USER all_rows EMAIL 'all@example.org' PASSWORD 'Battery-Staple-7'`,
    `GRANT BYPASS POLICIES TO USER all_rows`,
    `CREATE TABLE ${S}.secret (a BIGINT)`,
    `INSERT INTO ${S}.secret VALUES (7), (8)`,
    `CREATE ROW ACCESS POLICY ${S}.none AS (v BIGINT) RETURNS BOOLEAN -> v = 7`,
  );
});

const HIDDEN = expect.stringMatching(/^INVALID_TABLE_DATA: .* outside of /);
const BIND = `ALTER TABLE ${S}.secret ADD ROW ACCESS POLICY ${S}.none ON (a)`;
const UNBIND = `ALTER TABLE ${S}.secret DROP ROW ACCESS POLICY ${S}.none`;

/** Makes a table whose one snapshot has these bytes as its manifest list, or the list of another table. */
async function tableOfList(name: string, list: Uint8Array | string): Promise<void> {
  const created = await post('/namespaces/default/tables', { name, schema: SCHEMA });
  const { location } = created['metadata'] as { location: string };
  if (typeof list !== 'string') await fileStorage.write(`${location}/metadata/snap.avro`, list);
  const added = snapshot(location, 1) as { readonly snapshot: object };
  const named = typeof list === 'string' ? { ...added, snapshot: { ...added.snapshot, 'manifest-list': list } } : added;
  await post(`/namespaces/default/tables/${name}`, { updates: [named, setMain(1)] });
}

const COLUMN = {
  schemaId: 0,
  fields: [{ id: 1, name: 'a', required: false, type: { kind: 'long' } }],
  identifierFieldIds: [],
} as const;
const SPEC = { specId: 0, fields: [] };

test.runIf(hasLocalFiles())('no manifest of another table reaches files of a table with policies', async () => {
  const [path, size] = await first(`SELECT file_path, file_size_in_bytes FROM ${S}."secret$files"`);
  const [manifest, length] = await first(`SELECT path, length FROM ${S}."secret$manifests"`);
  const [, loaded] = await rest('GET', '/namespaces/default/tables/secret', 'root');
  const document = loaded['metadata'] as { snapshots: readonly JsonObject[] };
  const list = document.snapshots[0]?.['manifest-list'] as string;
  const file = {
    path: path as string,
    recordCount: 2,
    sizeBytes: Number(size),
    partition: [],
    columnSizes: new Map(),
    valueCounts: new Map(),
    nullCounts: new Map(),
    nanCounts: new Map(),
    lower: new Map(),
    upper: new Map(),
    splitOffsets: [],
  };
  await createHostileTable(post, 'names_data', [writeManifest(COLUMN, SPEC, 1n, [file])]);
  const entry = newManifestFile(COLUMN, SPEC, 1n, {
    path: manifest as string,
    lengthBytes: Number(length),
    files: [file],
  });
  const ids = { snapshotId: 1n, parentSnapshotId: null, sequenceNumber: 1n };
  await tableOfList('names_manifest', writeManifestList(ids, [entry]));
  await tableOfList('names_list', list);
  const tables = ['names_data', 'names_manifest', 'names_list'];
  const reads = (table: string): readonly string[] => [
    `SELECT a FROM ${S}.${table} ORDER BY a`,
    `SELECT a FROM ${S}.${table} FOR VERSION AS OF 1 ORDER BY a`,
    `CREATE TABLE ${S}.stolen AS SELECT a FROM ${S}.${table}`,
    // A manifest of its own tells what its writer knew.
    ...(table === 'names_data' ? [] : [`SELECT readable_metrics FROM ${S}."${table}$files"`]),
    `OPTIMIZE ${S}.${table}`,
    `DELETE FROM ${S}.${table} WHERE a = 8`,
  ];
  const plan = (table: string, user: string) => rest('POST', `/namespaces/default/tables/${table}/plan`, user, {});
  // Nothing is bound yet: they tell.
  for (const table of tables) {
    const [sql = ''] = reads(table);
    expect([table, await run(sql)]).toEqual([table, [[7], [8]]]);
    expect([table, (await plan(table, 'root'))[1]['status']]).toEqual([table, 'completed']);
  }
  const check = async (): Promise<void> => {
    for (const table of tables) {
      for (const sql of reads(table)) expect([sql, await run(sql)]).toEqual([sql, HIDDEN]);
      const [status, answer] = await plan(table, 'root');
      expect([table, status, JSON.stringify(answer)]).toEqual([table, expect.not.stringMatching('200'), HIDDEN_TEXT]);
      expect(await run(`SELECT a FROM ${S}.${table} ORDER BY a`, 'all_rows')).toEqual([[7], [8]]);
    }
  };
  await done(BIND);
  await check();
  await done(UNBIND);
  expect(await run(`SELECT a FROM ${S}.names_data ORDER BY a`)).toEqual([[7], [8]]);
  // The table goes with its policies, and its files stay.
  await done(BIND);
  expect(await run(`DROP TABLE ${S}.secret`, 'all_rows')).toEqual([['DROP TABLE']]);
  expect((await run(`SELECT count(*) FROM ${T}.information_schema.policy_references`))[0]).toEqual([0]);
  await check();
  const registration = { name: 'again', 'metadata-location': loaded['metadata-location'] as string };
  const register = '/namespaces/default/register';
  expect((await rest('POST', register, 'root', registration))[0]).toBe(403);
  const location = (loaded['metadata'] as { location: string }).location;
  const [status, refused] = await rest('POST', '/namespaces/default/tables', 'root', {
    name: 'below',
    schema: SCHEMA,
    location: `${location}/data`,
  });
  expect([status, JSON.stringify(refused)]).toEqual([
    400,
    expect.stringContaining('belonged to a table with policies'),
  ]);
  // The exempt open the folder to all.
  expect((await rest('POST', register, 'all_rows', registration))[0]).toBe(200);
  expect(await run(`SELECT a FROM ${S}.again ORDER BY a`)).toEqual([[7], [8]]);
});

const HIDDEN_TEXT = expect.stringContaining('outside of the table');
