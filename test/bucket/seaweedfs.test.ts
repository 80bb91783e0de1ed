import { afterAll, beforeAll, expect, test } from 'vitest';
import { addBucketCatalog } from '#test/support/bucket-catalog.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { startSeaweedfs, type Seaweedfs } from '#test/support/seaweedfs.ts';

let store: Seaweedfs;
let catalog: TestCatalog;

beforeAll(async () => {
  store = await startSeaweedfs();
  catalog = await startTestCatalog();
}, 600_000);

afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await store?.[Symbol.asyncDispose]();
});

async function check(name: string, settings: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const location = `s3://warehouse/${name}`;
  const compatible = { flavor: 'compatible', 'path-style': 'true', ...settings };
  await addBucketCatalog(catalog, store, { name, location, settings: compatible });
  const { checks } = await catalog.call<{ checks: { name: string; problem: string }[] }>('CheckCatalog', { name });
  return checks.map((one) => `${one.name}: ${one.problem || 'ok'}`);
}

test('SeaweedFS passes all checks of a bucket without temporary keys', async () => {
  const lines = await check('plain', {});
  expect(lines.filter((line) => !line.endsWith(': ok'))).toEqual([]);
  expect(lines).toHaveLength(9);
});

test('SeaweedFS passes all checks with temporary keys, which are refused beyond their folder', async () => {
  const lines = await check('roles', { 'sts-endpoint': store.endpoint, 'role-arn': store.roleArn });
  expect(lines.filter((line) => !line.endsWith(': ok'))).toEqual([]);
  expect(lines).toHaveLength(17);
});
