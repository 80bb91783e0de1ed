import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCluster, type StartedCluster } from '#test/support/cluster.ts';

/** Large uploads, and uploads while processes are killed: a file is in the stage as it was sent, or not at all. */
let cluster: StartedCluster;
let folder: string;

const UPLOAD_TTL_S = 20;
const PART_BYTES = 2 ** 20;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-stage-'));
  cluster = await startCluster({ workers: 1, env: { SKEIN_CATALOG_BACKGROUND_INTERVAL: '200ms' } });
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

/** All files of the stages, with their paths. */
async function storedFiles(): Promise<readonly string[]> {
  const found = await readdir(join(cluster.dataDir, 'warehouse/.stages'), { recursive: true, withFileTypes: true });
  return found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
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
  expect(await cluster.sql('SELECT name, size FROM (LIST @large)')).toEqual([['large.bin', String(2 * 2 ** 30)]]);
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

/** Sends until it is answered: processes come back. */
async function persistently(path: string, init: () => Promise<RequestInit>): Promise<Response> {
  for (let tries = 0; ; tries++) {
    try {
      const answer = await fetch(
        path.startsWith('http') ? path : `${cluster.queryUrl}/v1/stages/presign${path}`,
        await init(),
      );
      if (answer.status < 500 || tries > 200) return answer;
      await answer.arrayBuffer();
    } catch (error) {
      if (tries > 200) throw error;
    }
    await sleep(100);
  }
}

const json = async (body: object): Promise<RequestInit> => ({
  method: 'POST',
  headers: { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

type Begun = {
  readonly upload_id: string;
  readonly parts: readonly { readonly part_number: number; readonly url: string }[];
};

/** Uploads a file in three parts, each sent until it is answered. @returns whether the stage has it now */
async function upload(path: string, bytes: Buffer): Promise<boolean> {
  const named = { stage: 'inbox', path };
  const asked = { ...named, size: bytes.length, part_size: PART_BYTES };
  const { upload_id, parts } = (await (await persistently('/multipart/init', () => json(asked))).json()) as Begun;
  const sent = await Promise.all(
    parts.map(async ({ part_number, url }) => {
      const part = new Uint8Array(bytes.subarray((part_number - 1) * PART_BYTES, part_number * PART_BYTES));
      // The port of a coordinator that comes back is its own again.
      const answer = await persistently(url, () => Promise.resolve({ method: 'PUT', body: part }));
      return { part_number, etag: answer.headers.get('etag') ?? '' };
    }),
  );
  const complete = await persistently('/multipart/complete', () => json({ ...named, upload_id, parts: sent }));
  // One whose answer was lost is complete.
  return (
    complete.status === 200 || ((await complete.json()) as { readonly error: string }).error === 'UPLOAD_NOT_FOUND'
  );
}

test('kill -9 of the coordinator and of the catalog amid uploads: what is answered is there, byte for byte; nothing else stays', async () => {
  const bytes = new Map(
    Array.from({ length: 12 }, (_, i) => [`file-${i}.bin`, randomBytes(2 * PART_BYTES + i)] as const),
  );
  const uploads = [...bytes].map(async ([path, content]) => [path, await upload(path, content)] as const);
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
    .poll(async () => (await cluster.query('SELECT count(*)::INT FROM (LIST @inbox)')).body.rows, { timeout: 30_000 })
    .toEqual([[bytes.size]]);
  await cluster.cliOk(['get', '@inbox', join(folder, 'all')]);
  const md5 = (content: Buffer): string => createHash('md5').update(content).digest('hex');
  for (const [path, content] of bytes) expect(md5(await readFile(join(folder, 'all', path)))).toBe(md5(content));

  // An upload that its client leaves, and one whose coordinator dies while its file comes.
  const dead = (await (
    await persistently('/multipart/init', () =>
      json({ stage: 'inbox', path: 'dead', size: PART_BYTES, part_size: PART_BYTES }),
    )
  ).json()) as Begun;
  await persistently(dead.parts[0]?.url ?? '', () =>
    Promise.resolve({ method: 'PUT', body: new Uint8Array(PART_BYTES) }),
  );
  const { urls } = (await (
    await persistently('', () => json({ stage: 'inbox', files: [{ path: 'cut' }] }))
  ).json()) as { readonly urls: readonly { readonly url: string }[] };
  const endless = new ReadableStream({
    async pull(controller) {
      controller.enqueue(new Uint8Array(65_536));
      await sleep(20);
    },
  });
  const cut = fetch(urls[0]?.url ?? '', { method: 'PUT', body: endless, duplex: 'half' }).then(
    () => 'answered',
    () => 'cut off',
  );
  await expect.poll(async () => (await storedFiles()).some((path) => path.includes('whole'))).toBe(true);
  process.kill(await cluster.pidOf('coordinator'), 'SIGKILL');
  expect(await cut).toBe('cut off');
  expect((await storedFiles()).length).toBeGreaterThan(bytes.size);
  await expect
    .poll(async () => (await storedFiles()).length, { timeout: (UPLOAD_TTL_S + 10) * 1_000 })
    .toBe(bytes.size);
}, 180_000);
