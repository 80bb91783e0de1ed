import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCluster, type StartedCluster } from '#test/support/cluster.ts';
import { startOutsideIssuer, type OutsideIssuer } from '#test/support/outside-issuer.ts';
import { startSpark } from '#test/support/spark.ts';

/** A Spark job that comes with the token of its pipeline. */
let cluster: StartedCluster;
let issuer: OutsideIssuer;
let token: string;

beforeAll(async () => {
  issuer = await startOutsideIssuer();
  const { 'webhook.ca_file': caFile, 'webhook.allowed_networks': networks } = issuer.settings;
  cluster = await startCluster({
    workers: 1,
    env: { SKEIN_WEBHOOK_CA_FILE: caFile, SKEIN_WEBHOOK_ALLOWED_NETWORKS: networks.join(',') },
  });
  for (const sql of [
    'CREATE SCHEMA lake.jobs',
    `CREATE IDENTITY PROVIDER ci ISSUER '${issuer.issuer}' AUDIENCES ('skein:default')`,
    'CREATE SERVICE ACCOUNT loader',
    `ALTER SERVICE ACCOUNT loader SET TRUST OF ci WHERE 'sub' LIKE 'repo:acme/*'`,
  ]) {
    await cluster.sql(sql);
  }
  token = await issuer.sign({ sub: 'repo:acme/app:ref:refs/heads/main', exp: Math.floor(Date.now() / 1_000) + 3_600 });
});
afterAll(async () => {
  await cluster?.stop();
  await issuer?.[Symbol.asyncDispose]();
});

async function exchanged(): Promise<string> {
  const answer = await fetch(`${cluster.catalogUrl}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    }),
  });
  return ((await answer.json()) as { readonly access_token: string }).access_token;
}

test.each([
  ['as it is', () => Promise.resolve(token)],
  ['exchanged for one of ours', exchanged],
])('the token %s: a table is made, written and read', async (how, shown) => {
  const table = `lake.jobs.t${how.length}`;
  await using spark = await startSpark(cluster.catalogUrl, await shown());
  await spark.sql(`CREATE TABLE ${table} (id INT, name STRING) USING iceberg`);
  await spark.sql(`INSERT INTO ${table} VALUES (1, 'a'), (2, 'b')`);
  const rows = [
    [1, 'a'],
    [2, 'b'],
  ];
  expect(await spark.sql(`SELECT id, name FROM ${table} ORDER BY id`)).toEqual(rows);
  expect(await cluster.sql(`SELECT id, name FROM ${table} ORDER BY id`)).toEqual(rows);
});

test('a token that no account trusts opens nothing', async () => {
  const other = await issuer.sign({ sub: 'repo:rival/app' });
  await expect(
    startSpark(cluster.catalogUrl, other).then((spark) => spark.sql('SHOW NAMESPACES IN lake')),
  ).rejects.toThrow(/the token is not valid|Not authorized/);
});
