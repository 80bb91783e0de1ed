import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Copier } from './copier.ts';

let dir: string;
let source: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-copier-'));
  source = join(dir, 'source.parquet');
  const duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run(`COPY (SELECT i, hash(i) AS h FROM range(3_000_000) t(i)) TO '${source}' (FORMAT parquet)`);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a copy whose process is killed is refused, and the next one is made', async () => {
  const copier = new Copier();
  const target = join(dir, 'target.parquet');
  const request = { source, real: source, target, bytesMax: 2 ** 30 };
  const first = copier.copy(request);
  while (!existsSync(`${target}.tmp`)) await new Promise((resolve) => setTimeout(resolve, 5));
  copier.close();
  expect(await first).toHaveProperty('refused');
  expect(await copier.copy(request)).toHaveProperty('bytes');
  copier.close();
  expect(readdirSync(dir).toSorted()).toEqual(['source.parquet', 'target.parquet']);
});
