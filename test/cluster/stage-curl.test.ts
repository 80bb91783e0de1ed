import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { curl } from '#test/support/curl.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Uploads and downloads by curl, as a user's script does them, against signed URLs. */
let cluster: Cluster;
let folder: string;
const STAGE = 'lake.stage_curl.inbox';
const PART_BYTES = 2 ** 20;
const BYTES = randomBytes(3 * PART_BYTES + 5);

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  folder = await mkdtemp(join(tmpdir(), 'skein-curl-'));
  await cluster.sql('CREATE SCHEMA lake.stage_curl');
  await cluster.sql(`CREATE STAGE ${STAGE}`);
  await writeFile(join(folder, 'whole'), BYTES);
  for (const number of [1, 2, 3, 4]) {
    await writeFile(join(folder, `part-${number}`), BYTES.subarray((number - 1) * PART_BYTES, number * PART_BYTES));
  }
});
afterAll(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true });
});

type Asked = Record<string, unknown>;

/** Calls an operation of stages with curl. @returns its answer */
async function call(operation: string, body: Asked): Promise<Asked> {
  const answer = join(folder, randomUUID());
  const { code } = await curl([
    '-o',
    answer,
    '-H',
    `Authorization: Bearer ${await cluster.token()}`,
    '-H',
    'Content-Type: application/json',
    '-d',
    JSON.stringify({ stage: STAGE, ...body }),
    `${cluster.queryUrl}/v1/stages/presign${operation}`,
  ]);
  expect(code).toBe(0);
  const text = await readFile(answer, 'utf8');
  return text === '' ? {} : (JSON.parse(text) as Asked);
}

async function urlOf(path: string, method: string): Promise<string> {
  const { urls } = (await call('', { files: [{ path }], method })) as { urls: readonly { readonly url: string }[] };
  return must(urls[0], 'one URL for one file').url;
}

type Upload = {
  readonly upload_id: string;
  readonly parts: readonly { readonly part_number: number; readonly url: string }[];
};
const begin = async (path: string): Promise<Upload> =>
  (await call('/multipart/init', { path, size: BYTES.length, part_size: PART_BYTES })) as unknown as Upload;

/** Sends a part. @returns its status and its etag */
async function send({ part_number: number, url }: Upload['parts'][number]): Promise<readonly string[]> {
  const { code, tail } = await curl([
    '-T',
    join(folder, `part-${number}`),
    '-o',
    '/dev/null',
    '-w',
    '%{http_code} %header{etag}',
    url,
  ]);
  expect(code).toBe(0);
  return tail.split(' ');
}

const download = async (path: string, more: readonly string[] = []): Promise<Buffer> => {
  const { code } = await curl([...more, '-o', join(folder, 'got'), await urlOf(path, 'GET')]);
  expect(code).toBe(0);
  return readFile(join(folder, 'got'));
};
const listed = async (): Promise<readonly unknown[]> =>
  (await cluster.sql(`SELECT name || ' ' || size FROM (LIST @${STAGE}) ORDER BY 1`)).flat();

test('a file goes in with -T, comes out with -o, and goes on with -C after a break', async () => {
  const { tail } = await curl(['-T', join(folder, 'whole'), '-w', '%{http_code}', await urlOf('whole', 'PUT')]);
  expect(tail).toMatch(/200$/);
  expect((await download('whole')).equals(BYTES)).toBe(true);
  await writeFile(join(folder, 'got'), BYTES.subarray(0, 1_000_000));
  expect((await download('whole', ['-C', '-'])).equals(BYTES)).toBe(true);
});

describe('an upload in parts', () => {
  test('that are sent at once, one of them again after a break, is one file when it is completed', async () => {
    const { upload_id, parts } = await begin('parts');
    const [first, ...others] = parts;
    const { url, part_number } = must(first, 'four parts');
    const broken = spawn('curl', ['-s', '--limit-rate', '100k', '-T', join(folder, `part-${part_number}`), url]);
    const ended = once(broken, 'close');
    const etags = await Promise.all(others.map(send));
    expect(etags.map(([status]) => status)).toEqual(['200', '200', '200']);
    broken.kill('SIGKILL');
    await ended;
    expect(await listed()).toEqual([`whole ${BYTES.length}`]);
    const all = [await send({ part_number, url }), ...etags].map(([, etag], i) => ({ part_number: i + 1, etag }));
    expect(await call('/multipart/complete', { path: 'parts', upload_id, parts: all })).toMatchObject({
      path: 'parts',
      size: BYTES.length,
    });
    expect((await download('parts')).equals(BYTES)).toBe(true);
  });

  test('that is aborted takes no part any more', async () => {
    const { upload_id, parts } = await begin('aborted');
    const [first, second] = parts;
    expect((await send(must(first, 'four parts')))[0]).toBe('200');
    expect(await call('/multipart/abort', { path: 'aborted', upload_id })).toEqual({});
    expect((await send(must(second, 'four parts')))[0]).toBe('404');
    expect(await listed()).toEqual([`parts ${BYTES.length}`, `whole ${BYTES.length}`]);
  });
});

test('twelve clients at once put twelve files, each whole', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `many/${String(i).padStart(2, '0')}`);
  const sent = names.map(async (name) => {
    const url = await urlOf(name, 'PUT');
    return (await curl(['-T', join(folder, 'whole'), '-o', '/dev/null', '-w', '%{http_code}', url])).tail;
  });
  expect(await Promise.all(sent)).toEqual(names.map(() => '200'));
  expect(await cluster.sql(`SELECT name, size::BIGINT FROM (LIST @${STAGE}/many) ORDER BY 1`)).toEqual(
    names.map((name) => [name, BYTES.length]),
  );
});
