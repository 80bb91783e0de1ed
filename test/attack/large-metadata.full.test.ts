import { gzipSync } from 'node:zlib';
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { printJson, type JsonObject } from '#shared/json.ts';
import { fileStorage } from '#test/support/file-storage.ts';
import { errorOf, NS, SCHEMA, snapshot } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';
import { patience } from '#test/support/run/slowness.ts';
import { longestTurnMs } from '#test/support/thread-cpu.ts';

/** Large metadata documents are processed in worker threads, not in the thread that answers all requests. */

const MIB = 2 ** 20;
const SNAPSHOTS = 80_000;
/** Longest turn of the thread that answers all requests, in CPU time of the reference machine: most of it copies bytes. */
const HELD_MS_MAX = 250;
const heldMsMax = (): number => HELD_MS_MAX * machineSlowness();

let catalog: TestCatalog;
let location: string;

beforeAll(async () => {
  catalog = await startTestCatalog();
  location = `${catalog.dataDir}/warehouse`;
});
afterAll(() => catalog?.[Symbol.asyncDispose]());

const post = (path: string, body: unknown): Promise<RestAnswer> => catalog.rest('POST', path, { body });
const register = (name: string, file: string): Promise<RestAnswer> =>
  post(`${NS}/default/register`, { name, 'metadata-location': file });

/** The status of an answer. */
async function statusOf(method: string, path: string, body?: unknown): Promise<number> {
  const response = await fetch(catalog.running.url + path, {
    method,
    headers: { authorization: `Bearer ${catalog.token}` },
    ...(body === undefined ? {} : { body: printJson(body) }),
  });
  // The client runs in the same thread, so it reads the body without parsing or keeping it.
  for await (const _part of response.body ?? []);
  return response.status;
}

function metadataOf(name: string, more: object): JsonObject {
  return {
    'format-version': 2,
    'table-uuid': '7c34ad54-7a1b-4c3b-9e40-5f6b8c1f0d5e',
    location: `${location}/${name}`,
    'last-sequence-number': SNAPSHOTS,
    'last-updated-ms': 1,
    'last-column-id': 1,
    schemas: [{ ...SCHEMA, 'schema-id': 0 }],
    'current-schema-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'default-spec-id': 0,
    'last-partition-id': 999,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    'default-sort-order-id': 0,
    properties: {},
    'current-snapshot-id': -1,
    snapshots: [],
    ...more,
  };
}

async function write(name: string, bytes: Uint8Array): Promise<string> {
  const file = `file://${location}/${name}/metadata/v1.metadata.json`;
  await fileStorage.write(file, bytes);
  return file;
}
const writeJson = (name: string, more: object): Promise<string> =>
  write(name, Buffer.from(printJson(metadataOf(name, more))));

describe('a table with eighty thousand snapshots', () => {
  const ids = Array.from({ length: SNAPSHOTS }, (_, i) => 1_000_000_000_000_000_000n + BigInt(i));
  let file: string;

  beforeAll(async () => {
    file = await writeJson('large', {
      snapshots: ids.map((id, i) => ({
        'snapshot-id': id,
        'sequence-number': i,
        'timestamp-ms': 1,
        'manifest-list': `${location}/large/metadata/snap-${id}.avro`,
        summary: { operation: 'append', 'added-files-size': '1000', 'total-records': '1000' },
        'schema-id': 0,
      })),
    });
    expect(Buffer.byteLength(Buffer.from(await fileStorage.read(file, 64 * MIB)))).toBeGreaterThan(15 * MIB);
  });

  test.each<[string, () => Promise<number>]>([
    ['is registered', () => statusOf('POST', `${NS}/default/register`, { name: 'large', 'metadata-location': file })],
    [
      'takes a commit',
      () => {
        const updates = [snapshot(`${location}/large`, 7, undefined, SNAPSHOTS + 1)];
        return statusOf('POST', `${NS}/default/tables/large`, { updates });
      },
    ],
    ['is loaded without its snapshots', () => statusOf('GET', `${NS}/default/tables/large?snapshots=refs`)],
    ['is planned', () => statusOf('POST', `${NS}/default/tables/large/plan`, {})],
    [
      'is dropped and purged',
      async () => {
        const status = await statusOf('DELETE', `${NS}/default/tables/large?purgeRequested=true`);
        // The files of earlier metadata are the last but one that a purge deletes.
        await vi.waitUntil(async () => !(await fileStorage.exists(file)), { timeout: patience(60_000), interval: 100 });
        return status - 4;
      },
    ],
  ])('%s', async (_what, work) => {
    const heldMs = await longestTurnMs(async () => {
      expect(await work()).toBe(200);
    });
    expect(heldMs).toBeLessThan(heldMsMax());
  });
});

describe('documents that are refused', () => {
  test.each<[string, () => Promise<string>, string]>([
    ['more than a thousand million zeros', () => write('zeros', gzipSync(Buffer.alloc(256 * MIB, '0'))), 'larger than'],
    [
      'a list of very many nothings',
      () => write('nothings', gzipSync(`{"x":[${'{},'.repeat(3_000_000)}{}]}`)),
      'values',
    ],
    ['nesting without end', () => write('nested', gzipSync('['.repeat(1_000_000))), 'nested'],
    ['a number of a million digits', () => write('digits', gzipSync(`{"x":${'9'.repeat(2_000_000)}}`)), 'digits'],
    [
      'more schemas than anybody has',
      () =>
        writeJson('schemas', { schemas: Array.from({ length: 20_000 }, (_, id) => ({ ...SCHEMA, 'schema-id': id })) }),
      'schemas',
    ],
    [
      'more properties than anybody has',
      () =>
        writeJson('properties', {
          properties: Object.fromEntries(Array.from({ length: 120_000 }, (_, i) => [`p${i}`, ''])),
        }),
      'properties',
    ],
    ['half of a gzip', () => write('half', gzipSync(Buffer.alloc(MIB, '0')).subarray(0, 500)), 'parse'],
  ])('%s', async (what, make, why) => {
    const file = await make();
    const heldMs = await longestTurnMs(async () => {
      const [status, , message] = errorOf(await register(what.replaceAll(' ', '_'), file));
      expect([status, message]).toEqual([400, expect.stringContaining(why)]);
    });
    expect(heldMs).toBeLessThan(heldMsMax());
  });

  test('a pipe in the place of a document is none', async () => {
    const file = await writeJson('pipe', {});
    const path = file.replace('file://', '');
    await fileStorage.remove([file]);
    execFileSync('mkfifo', [path]);
    expect(errorOf(await register('pipe', file))[0]).toBe(404);
  });
});

describe('a table with fifty megabytes of metadata', () => {
  const TABLE = `${NS}/default/tables/fifty`;

  beforeAll(async () => {
    const properties = { large: 'x'.repeat(50 * MIB) };
    expect(
      await statusOf('POST', `${NS}/default/register`, {
        name: 'fifty',
        'metadata-location': await writeJson('fifty', { properties }),
      }),
    ).toBe(200);
  });

  test.each<[string, (client: number) => Promise<number>]>([
    ['load it', () => statusOf('GET', TABLE)],
    ['load it without its snapshots', () => statusOf('GET', `${TABLE}?snapshots=refs`)],
    ['plan a scan of it', () => statusOf('POST', `${TABLE}/plan`, {})],
    ['ask whether it is there', async () => (await statusOf('HEAD', TABLE)) - 4],
  ])(
    'takes the main thread no longer in one go when eight %s at once',
    async (_what, work) => {
      const heldMs = await longestTurnMs(async () => {
        const clients = Array.from({ length: 8 }, (_, client) => work(client));
        expect(new Set(await Promise.all(clients))).toEqual(new Set([200]));
      });
      expect(heldMs).toBeLessThan(heldMsMax());
    },
    120_000,
  );
});
