import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';

type SignedUrl = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** Puts a file into a stage by a signed URL. @param stage without `@` */
export async function putStageFile(
  cluster: Pick<Cluster, 'queryUrl' | 'token'>,
  stage: string,
  path: string,
  body: Uint8Array | string,
): Promise<void> {
  const headers = { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' };
  const asked = JSON.stringify({ stage, files: [{ path }] });
  const answer = await fetch(`${cluster.queryUrl}/v1/stages/presign`, { method: 'POST', headers, body: asked });
  const { urls } = (await answer.json()) as { readonly urls: readonly [SignedUrl] };
  const [signed] = urls;
  const bytes = typeof body === 'string' ? body : new Uint8Array(body);
  const { ok, status } = await fetch(signed.url, { method: 'PUT', body: bytes, headers: signed.headers });
  if (!ok) throw new Error(`the file ${path} was refused: ${status}`);
}

/** All files of the stages of the cluster's own warehouse, those of uploads included, with their paths on the disk. */
export async function storedFiles({ dataDir }: Pick<Cluster, 'dataDir'>): Promise<readonly string[]> {
  const found = await readdir(join(dataDir, 'warehouse/.stages'), { recursive: true, withFileTypes: true });
  return found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
}
