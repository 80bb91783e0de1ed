import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Cluster } from '#test/support/cluster.ts';

/** Puts the files of a folder into a stage, below `path`. @returns their bytes */
export async function putFiles(
  cluster: Cluster,
  { folder, stage, path }: { readonly folder: string; readonly stage: string; readonly path: string },
): Promise<number> {
  const names = await readdir(folder);
  const headers = { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' };
  const files = names.map((name) => ({ path: `${path}/${name}` }));
  const body = JSON.stringify({ stage, files });
  const answer = await fetch(`${cluster.queryUrl}/v1/stages/presign`, { method: 'POST', headers, body });
  const { urls } = (await answer.json()) as { readonly urls: readonly { readonly url: string }[] };
  let bytes = 0;
  for (const [i, name] of names.entries()) {
    const { size } = await stat(join(folder, name));
    bytes += size;
    const stream = Readable.toWeb(createReadStream(join(folder, name))) as ReadableStream;
    const { ok, status } = await fetch(urls[i]?.url ?? '', {
      method: 'PUT',
      headers: { 'content-length': String(size) },
      body: stream,
      duplex: 'half',
    });
    if (!ok) throw new Error(`the file ${name} was refused: ${status}`);
  }
  return bytes;
}
