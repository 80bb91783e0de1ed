import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** A text of the form of a secret of ours is kept nowhere, wherever a client has put it by mistake. */
let cluster: Cluster;
let databaseUrl: string;
let database: Client;
/** No place may have these: each secret without the prefix that stays. */
const bodies: string[] = [];

beforeAll(async () => {
  ({ cluster, databaseUrl } = await sharedCluster());
  database = new Client({ connectionString: databaseUrl });
  await database.connect();
});
afterAll(() => database?.end());

function secret(prefix: string): string {
  const body = randomBytes(24).toString('base64url');
  bodies.push(body);
  return prefix + body;
}
const jwt = (): string => `eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ${secret('a')}.c2ln`;
const pem = (): string => `-----BEGIN PRIVATE KEY-----\n${secret('')}\n-----END PRIVATE KEY-----`;

const answered = async (sql: string, source?: string): Promise<string> => {
  const answer = await cluster.query(sql, source === undefined ? {} : { source });
  return JSON.stringify(answer.body);
};
const storedIn = async (table: string): Promise<string> => {
  const { rows } = await database.query<{ text: string }>(`SELECT t::text AS text FROM ${table} t`);
  return rows.map(({ text }) => text).join('\n');
};
const get = async (path: string): Promise<string> => {
  const headers = { authorization: `Bearer ${await cluster.token()}` };
  return (await fetch(cluster.queryUrl + path, { headers })).text();
};
const found = (text: string): readonly string[] =>
  bodies.filter((body) => text.toLowerCase().includes(body.toLowerCase()));

/** Files of the cluster that are no database, table or library: journals, logs, spools. */
function textsBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'postgres' ? [] : textsBelow(path);
    return entry.isFile() && found(readFileSync(path, 'latin1')).length > 0 ? [path] : [];
  });
}

test('in statements, sources, settings and names, with the errors that they cause', async () => {
  const source = secret('skein_pat_');
  await answered(`DROP PERSONAL ACCESS TOKEN ${secret('skein_pat_')}`);
  await answered(`DROP USER "${secret('skein_inv_')}"`);
  await answered(`CREATE ROLE ${secret('skein_cs_')}`);
  const filter = `n_name <> '${secret('skein_pat_')}'`;
  const filtered = await cluster.query(`SELECT '${jwt()}' AS a, count(*) FROM lake.tpch.nation WHERE ${filter}`, {
    source,
  });
  await answered(`SELECT * FROM lake.tpch.${secret('skein_pat_')}`, source);
  await answered(`SELECT CAST('${secret('skein_inv_')}' AS INTEGER) + n_nationkey FROM lake.tpch.nation`, source);
  await answered(`SELEKT '${pem()}'`, source);
  await answered(`SET service.resource_pool = '${secret('skein_cs_')}'`);
  await answered(`PREPARE masked AS SELECT '${secret('skein_pat_')}' AS x`);
  await answered(
    `EXPLAIN ANALYZE SELECT n_name FROM lake.tpch.nation WHERE n_name <> '${secret('skein_pat_')}'`,
    source,
  );
  expect(bodies.length).toBeGreaterThan(10);

  expect(found(await answered('SHOW QUERY HISTORY'))).toEqual([]);
  expect(found(await answered('SHOW ALL'))).toEqual([]);
  // The statement asks for itself.
  expect(found(await answered(`SHOW QUERIES -- ${secret('skein_pat_')}`, secret('skein_pat_')))).toEqual([]);
  expect(found(await get('/api/query-history?limit=100'))).toEqual([]);
  await expect
    .poll(() => get(`/api/query-history/${filtered.queryId}/profile`), { timeout: patience(30_000) })
    .toContain('_***');
  expect(found(await get(`/api/query-history/${filtered.queryId}/profile`))).toEqual([]);
  const stored = (): Promise<string> => storedIn('coordinator.query_history');
  // The records, with what is masked in them, come soon; the last has the source of the last statement.
  await expect
    .poll(async () => (await stored()).includes('SHOW QUERIES -- skein_pat_***'), { timeout: patience(30_000) })
    .toBe(true);
  expect(found(await stored())).toEqual([]);
  expect(found(await storedIn('catalog.user_audit_log'))).toEqual([]);
  expect(textsBelow(cluster.dataDir)).toEqual([]);
});

test('in the token that somebody signs in by', async () => {
  const token = secret('skein_pat_');
  const answer = await fetch(`${cluster.queryUrl}/api/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-skein-console': '1', origin: cluster.queryUrl },
    body: JSON.stringify({ token }),
  });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(found(await storedIn('catalog.user_audit_log'))).toEqual([]);
});
