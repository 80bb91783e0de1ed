import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { RESTARTS_SOON } from '#test/support/kill-service.ts';
import { storedFiles } from '#test/support/stage-files.ts';
import { UploadClient } from '#test/support/upload-client.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Large uploads, and uploads while processes are killed: a file is in the stage as it was sent, or not at all. */
let cluster: StartedCluster;
let folder: string;

/** Longer than the uploads take while processes die beside other suites: one that outlives it is forgotten, as it should be. */
const UPLOAD_TTL_S = 30;
const PART_BYTES = 2 ** 20;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-stage-'));
  cluster = await startOwnCluster({
    workers: 1,
    env: { SKEIN_CATALOG_BACKGROUND_INTERVAL: '200ms', ...RESTARTS_SOON },
  });
  await cluster.sql('CREATE STAGE large');
  await cluster.sql(`CREATE STAGE inbox WITH ('upload_ttl' = '${UPLOAD_TTL_S}s')`);
});
afterAll(async () => {
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The most memory that the process has had, in bytes. */
async function peakBytes(pid: number): Promise<number> {
  const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

test('two gigabytes go into a stage and out of it, and the coordinator’s memory does not grow with them', async () => {
  const file = join(folder, 'large.bin');
  await using large = await open(file, 'w');
  // Holes in the file are bytes all the same.
  await large.truncate(2 * 2 ** 30);
  await large.write(randomBytes(PART_BYTES), 0, PART_BYTES, 2 ** 30 + 7);
  const pid = await cluster.pidOf('coordinator');
  const before = await peakBytes(pid);
  await cluster.cliOk(['put', file, '@large/large.bin']);
  expect(await cluster.sql('SELECT name, size FROM (LIST @large)')).toEqual([['large.bin', 2 * 2 ** 30]]);
  await cluster.cliOk(['get', '@large/large.bin', join(folder, 'got')]);
  expect((await peakBytes(pid)) - before).toBeLessThan(256 * 2 ** 20);
  const window = async (path: string): Promise<Buffer> => {
    await using opened = await open(path);
    const bytes = Buffer.alloc(PART_BYTES + 100);
    await opened.read(bytes, 0, bytes.length, 2 ** 30 - 10);
    return bytes;
  };
  expect(await window(join(folder, 'got/large.bin'))).toEqual(await window(file));
  await cluster.sql('REMOVE @large');
}, 300_000);

test('kill -9 of the coordinator and of the catalog amid uploads: what is answered is there, byte for byte; nothing else stays', async () => {
  const bytes = new Map(
    Array.from({ length: 12 }, (_, i) => [`file-${i}.bin`, randomBytes(2 * PART_BYTES + i)] as const),
  );
  const client = new UploadClient(cluster, 'inbox', PART_BYTES);
  const uploads = [...bytes].map(async ([path, content]) => [path, await client.upload(path, content)] as const);
  const uploaded = new AbortController();
  const killing = (async () => {
    for (let round = 0; round < 6 && !uploaded.signal.aborted; round++) {
      await sleep(300 + 400 * Math.random());
      process.kill(await cluster.pidOf(round % 2 === 0 ? 'coordinator' : 'catalog'), 'SIGKILL');
      await sleep(1_500);
    }
  })();
  const outcomes = await Promise.all(uploads);
  uploaded.abort();
  await killing;
  expect(outcomes.every(([, isThere]) => isThere)).toBe(true);
  await expect
    .poll(async () => (await cluster.query('SELECT count(*)::INT FROM (LIST @inbox)')).body.rows, {
      timeout: patience(30_000),
    })
    .toEqual([[bytes.size]]);
  await cluster.cliOk(['get', '@inbox', join(folder, 'all')]);
  const md5 = (content: Buffer): string => createHash('md5').update(content).digest('hex');
  for (const [path, content] of bytes) expect(md5(await readFile(join(folder, 'all', path)))).toBe(md5(content));

  // An upload that its client leaves, and one whose coordinator dies while its file comes.
  const [deadPart] = (await client.begin('dead', PART_BYTES)).parts;
  await client.sendPart(must(deadPart, 'one part'), Buffer.alloc(PART_BYTES));
  const cutUrl = await client.presign('cut');
  const endless = new ReadableStream({
    async pull(controller) {
      controller.enqueue(new Uint8Array(65_536));
      await sleep(20);
    },
  });
  const cut = fetch(cutUrl, { method: 'PUT', body: endless, duplex: 'half' }).then(
    () => 'answered',
    () => 'cut off',
  );
  await expect.poll(async () => (await storedFiles(cluster)).some((path) => path.includes('whole'))).toBe(true);
  process.kill(await cluster.pidOf('coordinator'), 'SIGKILL');
  expect(await cut).toBe('cut off');
  expect((await storedFiles(cluster)).length).toBeGreaterThan(bytes.size);
  await expect
    .poll(async () => (await storedFiles(cluster)).length, { timeout: (UPLOAD_TTL_S + 10) * 1_000 })
    .toBe(bytes.size);
}, 180_000);
