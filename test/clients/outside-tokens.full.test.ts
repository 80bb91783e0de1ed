import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { startOutsideIssuer, type OutsideIssuer } from '#test/support/outside-issuer.ts';
import { statementRunner } from '#test/support/run-statements.ts';
import { startSpark } from '#test/support/spark.ts';

/** Spark comes with the token of its pipeline, as it is and exchanged. */
let catalog: TestCatalog;
let issuer: OutsideIssuer;

beforeAll(async () => {
  issuer = await startOutsideIssuer();
  catalog = await startTestCatalog(issuer.settings);
  const { run } = statementRunner(catalog);
  await run('admin', {
    kind: 'create_provider',
    name: 'ci',
    ifNotExists: false,
    issuer: issuer.issuer,
    audiences: ['skein:default'],
  });
  await run('admin', { kind: 'create_account', name: 'loader', ifNotExists: false });
  await run('admin', {
    kind: 'set_trust',
    account: 'loader',
    provider: 'ci',
    conditions: [{ claim: 'sub', operator: 'LIKE', value: 'repo:acme/*' }],
  });
});
afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
});

test.each(['as it is', 'exchanged'])(
  'Spark writes and reads with a token, %s',
  async (way) => {
    const shown = await issuer.sign({ sub: 'repo:acme/app:ref:refs/heads/main' });
    const exchanged = await catalog.rest('POST', '/v1/oauth/tokens', {
      token: null,
      raw: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: shown,
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(exchanged.status).toBe(200);
    const token = way === 'exchanged' ? (exchanged.body['access_token'] as string) : shown;
    await using spark = await startSpark(catalog.running.url, token);
    const name = `lake.${way.replaceAll(' ', '_')}`;
    for (const sql of [
      `CREATE NAMESPACE ${name}`,
      `CREATE TABLE ${name}.t (a INT)`,
      `INSERT INTO ${name}.t VALUES (7)`,
    ]) {
      await spark.sql(sql);
    }
    expect(await spark.sql(`SELECT a FROM ${name}.t`)).toEqual([[7]]);
  },
  300_000,
);
