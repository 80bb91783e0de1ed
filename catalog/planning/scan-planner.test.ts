import { describe, expect, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { newManifestFile, writeManifestList } from '#test/support/manifest-files.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { tenantId } from '#shared/id.ts';
import { printJson } from '#shared/json.ts';
import type { FileReader } from '#shared/storage/storage.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import { resolveText } from './plan-portions.ts';
import type { PlannedScan } from '../metadata/plan-request.ts';
import { ScanPlanner, type ScannedTable } from './scan-planner.ts';

const SNAPSHOT = {
  'snapshot-id': 1,
  'sequence-number': 1,
  'timestamp-ms': 1,
  'manifest-list': 'file:///w/t/list.avro',
};
const table: ScannedTable = {
  tenant: tenantId('default'),
  roots: ['file:///w'],
  metadataLocation: 'file:///w/t/1.metadata.json',
  metadata: printJson({
    'format-version': 2,
    'table-uuid': 'u',
    location: 'file:///w/t',
    schemas: [{ type: 'struct', 'schema-id': 0, fields: [{ id: 1, name: 'a', required: false, type: 'long' }] }],
    'current-schema-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'current-snapshot-id': 1,
    snapshots: [{ ...SNAPSHOT, summary: { operation: 'append' } }],
  }),
};
const scan: PlannedScan = resolveText({ metadata: table.metadata, body: {} });
const EMPTY = newManifestFile({ schemaId: 0, fields: [], identifierFieldIds: [] }, { specId: 0, fields: [] }, 1n, {
  path: 'file:///w/t/m.avro',
  lengthBytes: 1,
  files: [],
});
const LIST = writeManifestList({ snapshotId: 1n, parentSnapshotId: null, sequenceNumber: 1n }, [EMPTY]);
const LONG_MS = 20_000;
const EMPTY_PLAN = {
  files: 0,
  texts: [new TextEncoder().encode('{"delete-files":[],"file-scan-tasks":[]}')],
};
/** These tests plan only small tables, which need no worker threads. */
const NO_READERS = {} as WorkPool;

/** A storage whose reads wait until the test calls `open`. */
function gatedIo(): { readonly io: FileReader; readonly reads: () => number; readonly open: () => void } {
  const waiting: (() => void)[] = [];
  let reads = 0;
  const io = {
    read: async () => {
      reads += 1;
      await new Promise<void>((resolve) => waiting.push(resolve));
      return LIST;
    },
  } as unknown as FileReader;
  return { io, reads: () => reads, open: () => waiting.splice(0).forEach((resolve) => resolve()) };
}
const plannerOf = (io: FileReader, config: Partial<Config> = {}): ScanPlanner =>
  // Without a cache every plan reads for itself.
  new ScanPlanner({
    storages: { credential: () => Promise.resolve(FILE_CREDENTIAL), open: () => Promise.resolve(io) },
    readers: NO_READERS,
    clock: systemClock,
    config: defaultConfig({ 'catalog.manifest_cache_bytes': 0, ...config }),
  });
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

describe('the planner', () => {
  test('answers undefined when a plan takes longer than the caller waits, and goes on', async () => {
    const { io, reads, open } = gatedIo();
    const planner = plannerOf(io);
    expect(await planner.portions('a', table, scan, 5)).toBeUndefined();
    open();
    expect(await planner.portions('a', table, scan, LONG_MS)).toEqual(EMPTY_PLAN);
    expect(await planner.portions('a', table, scan, LONG_MS)).toEqual(EMPTY_PLAN);
    expect(reads()).toBe(1);
    planner.forget('a');
    const again = planner.portions('a', table, scan, LONG_MS);
    await soon();
    open();
    expect(await again).toEqual(EMPTY_PLAN);
    expect(reads()).toBe(2);
  });

  test('runs no more plans at once than it may', async () => {
    const { io, reads, open } = gatedIo();
    const planner = plannerOf(io, { 'catalog.plans_at_once': 1 });
    const first = planner.portions('a', table, scan, LONG_MS);
    await soon();
    const second = planner.portions('b', table, scan, LONG_MS);
    await soon();
    expect(reads()).toBe(1);
    open();
    expect(await first).toEqual(EMPTY_PLAN);
    await soon();
    open();
    expect(await second).toEqual(EMPTY_PLAN);
  });

  test('tells those who wait for a plan that it was cancelled, and one that fails is tried again', async () => {
    const { io, open } = gatedIo();
    const planner = plannerOf(io);
    const wrong = { ...scan, snapshotIds: ['2'] };
    await expect(planner.portions('a', table, wrong, LONG_MS)).rejects.toMatchObject({ code: 'PLAN_NOT_FOUND' });
    await soon();
    const right = planner.portions('a', table, scan, LONG_MS);
    await soon();
    open();
    expect(await right).toEqual(EMPTY_PLAN);
  });

  test('keeps what it planned no longer than it may', async () => {
    const { io, reads, open } = gatedIo();
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => 0 };
    const config = defaultConfig({ 'catalog.plan_ttl': 1_000, 'catalog.manifest_cache_bytes': 0 });
    const planner = new ScanPlanner({
      storages: { credential: () => Promise.resolve(FILE_CREDENTIAL), open: () => Promise.resolve(io) },
      readers: NO_READERS,
      clock,
      config,
    });
    for (const at of [0, 999, 1_001]) {
      nowMs = at;
      const entries = planner.portions('a', table, scan, LONG_MS);
      await soon();
      open();
      expect(await entries).toEqual(EMPTY_PLAN);
    }
    expect(reads()).toBe(2);
  });
});
