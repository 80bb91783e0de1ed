import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';

/** An upload in parts that has begun. */
export type BegunUpload = {
  readonly upload_id: string;
  readonly parts: readonly { readonly part_number: number; readonly url: string }[];
};

const TRIES_MAX = 200;
const RETRY_MS = 100;

/** A client that uploads files into a stage and asks again until it is answered, while processes are killed. */
export class UploadClient {
  readonly #cluster: Pick<Cluster, 'queryUrl' | 'token'>;
  readonly #stage: string;
  readonly #partBytes: number;

  /** @param stage without `@` */
  constructor(cluster: Pick<Cluster, 'queryUrl' | 'token'>, stage: string, partBytes: number) {
    this.#cluster = cluster;
    this.#stage = stage;
    this.#partBytes = partBytes;
  }

  /** Begins an upload in parts. */
  async begin(path: string, size: number): Promise<BegunUpload> {
    const asked = { stage: this.#stage, path, size, part_size: this.#partBytes };
    return (await (await this.#post('/multipart/init', asked)).json()) as BegunUpload;
  }

  /** Sends the part of a file that a URL is for. @returns its ETag */
  async sendPart({ part_number: number, url }: BegunUpload['parts'][number], bytes: Buffer): Promise<string> {
    const part = new Uint8Array(bytes.subarray((number - 1) * this.#partBytes, number * this.#partBytes));
    const answer = await persistently(url, () => Promise.resolve({ method: 'PUT', body: part }));
    return answer.headers.get('etag') ?? '';
  }

  /** Puts the parts together. @returns whether the stage has the file; one whose answer was lost is complete */
  async complete(path: string, { upload_id }: BegunUpload, etags: readonly string[]): Promise<boolean> {
    const parts = etags.map((etag, i) => ({ part_number: i + 1, etag }));
    const answer = await this.#post('/multipart/complete', { stage: this.#stage, path, upload_id, parts });
    return answer.status === 200 || ((await answer.json()) as { readonly error: string }).error === 'UPLOAD_NOT_FOUND';
  }

  /** Uploads a file in parts, which are sent at once. @returns whether the stage has it now */
  async upload(path: string, bytes: Buffer): Promise<boolean> {
    const begun = await this.begin(path, bytes.length);
    const etags = await Promise.all(begun.parts.map((part) => this.sendPart(part, bytes)));
    return this.complete(path, begun, etags);
  }

  /** A signed URL for a file in one request. */
  async presign(path: string): Promise<string> {
    const answer = await this.#post('', { stage: this.#stage, files: [{ path }] });
    const { urls } = (await answer.json()) as { readonly urls: readonly { readonly url: string }[] };
    return urls[0]?.url ?? '';
  }

  async #post(path: string, body: object): Promise<Response> {
    return persistently(`${this.#cluster.queryUrl}/v1/stages/presign${path}`, async () => ({
      method: 'POST',
      headers: { authorization: `Bearer ${await this.#cluster.token()}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }));
  }
}

/** Sends a request until a server answers it without failing: processes come back. */
export async function persistently(url: string, init: () => Promise<RequestInit>): Promise<Response> {
  for (let tries = 0; ; tries++) {
    try {
      const answer = await fetch(url, await init());
      if (answer.status < 500 || tries > TRIES_MAX) return answer;
      await answer.arrayBuffer();
    } catch (error) {
      if (tries > TRIES_MAX) throw error;
    }
    await sleep(RETRY_MS);
  }
}
