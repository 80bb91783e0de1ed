import { readdir } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { parseJson } from '#shared/json.ts';
import { localPath } from '#shared/storage/location.ts';
import { python } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** PyIceberg as an engine: it changes tables in every way that it can, and after each change Skein reads the same rows as PyIceberg. */
type Row = readonly (string | null)[];
type Check = { readonly name: string; readonly theirs: readonly Row[]; readonly ours: readonly Row[] | string };

/** Purges run in the background. */
const PURGE_WAIT_MS = 60_000;

const sorted = (rows: readonly Row[] | string): readonly string[] =>
  typeof rows === 'string' ? [rows] : rows.map((row) => JSON.stringify(row)).sort();

/** Empty for a folder that is deleted before or while it is listed. */
const filesBelow = async (location: string): Promise<readonly string[]> => {
  const entries = await readdir(localPath(location), { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
};

describe('PyIceberg', async () => {
  const { cluster } = await sharedCluster();
  const token = await cluster.token();
  const output = await python('test/clients/pyiceberg_engine.py', cluster.catalogUrl, cluster.queryUrl, token);
  const { seen, checks } = parseJson(output) as unknown as { seen: Record<string, unknown>; checks: readonly Check[] };

  test('creates, writes, changes, evolves, branches, renames, registers and drops', async () => {
    const { 'purged location': purged, ...rest } = seen;
    expect(rest).toEqual({
      failed: {},
      upsert: [1, 1],
      properties: 'v',
      evolved: [['label', 'id', 'st.x', 'st.y', 'st', 'union'], ['bucketed'], 3, 1],
      branch: [1, 9],
      'as of': true,
      refs: ['main'],
      snapshots: false,
      view: [[['engine', 'a_view']], true, true, true],
      'view dropped': [false, true],
      purged: true,
      'format version': 2,
      appended: [24, 24],
    });
    await vi.waitFor(async () => expect(await filesBelow(purged as string)).toEqual([]), PURGE_WAIT_MS);
  });

  for (const { name, theirs, ours } of checks) {
    test(`Skein reads the same: ${name}`, () => expect(sorted(ours)).toEqual(sorted(theirs)));
  }
});
