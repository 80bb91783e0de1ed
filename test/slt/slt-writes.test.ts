import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedFixture } from '#test/support/resources.ts';
import { ClusterEngine } from './cluster-engine.ts';
import { runSlt } from './run-slt.ts';
import { parseSlt } from './slt-file.ts';

let cluster: Cluster;
let names: Readonly<Record<string, string>>;

beforeAll(async () => {
  ({ cluster, names } = await sharedFixture());
});

/** INSERT, CREATE TABLE AS, DELETE, UPDATE and MERGE: each statement is a commit. */
describe('statements that write rows', () => {
  for (const file of globSync(join(import.meta.dirname, 'writes', '*.slt')).sort()) {
    test(`${basename(file)} on a cluster`, async () => {
      const records = parseSlt(await readFile(file, 'utf8'), names);
      expect(await runSlt(records, new ClusterEngine(cluster, randomUUID()))).toEqual([]);
    });
  }
});
