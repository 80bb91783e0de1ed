import { createHash, randomUUID } from 'node:crypto';
import { FileNotFound, type Checksums } from '#shared/storage/storage.ts';
import type { PartUpload } from '#shared/storage/object/object-store.ts';
import { requireOwn } from '#shared/storage/object/object-writes.ts';
import { md5Of } from '#shared/storage/object/md5.ts';
import { ownHeaders } from '#shared/storage/object/own-headers.ts';
import { isMissing, StoreError, storageError } from '#shared/storage/object/store-error.ts';
import { gcsError, type GcsClient } from './gcs-client.ts';
import { gcsPlace, resourcePath } from './gcs-object.ts';
import { headGcsObject } from './gcs-reads.ts';

/** Writes of objects of Google's store: none replaces another but by `copyGcsObject`. */

/** Names of metadata begin so; the store puts its own beginning before them. */
const OWN = 'skein-';
const EXISTS = 412;
/** A part of an upload has come, and the store waits for the next. */
const GOES_ON = 308;
/** Only where no object has the name. */
const CREATE = { ifGenerationMatch: '0' };
/** How often the rest of a part is sent without progress. */
const STALLS_MAX = 6;
/** Requests of one copy of a large object. */
const COPIES_MAX = 10_000;

const headsOf = (client: GcsClient): Parameters<typeof requireOwn>[0] => ({
  head: (location) => headGcsObject(client, location),
});

/** Creates an object. The store compares its bytes with their MD5. @throws STORAGE_ERROR when it exists */
export async function putGcsObject(
  client: GcsClient,
  location: string,
  { body, checksums }: { readonly body: Uint8Array; readonly checksums: Checksums },
): Promise<void> {
  const { bucket, key } = gcsPlace(location);
  const [writeId, boundary] = [randomUUID(), randomUUID()];
  const metadata = ownHeaders(OWN, writeId, checksums);
  const resource = JSON.stringify({ name: key, contentType: BYTES, md5Hash: md5Of(body), metadata });
  const parts = [
    `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${resource}\r\n`,
    `--${boundary}\r\ncontent-type: ${BYTES}\r\n\r\n`,
    body,
    `\r\n--${boundary}--\r\n`,
  ];
  const request = {
    method: 'POST',
    path: `/upload/storage/v1/b/${bucket}/o`,
    query: { uploadType: 'multipart', ...CREATE },
    headers: { 'content-type': `multipart/related; boundary=${boundary}` },
    body: Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))),
  } as const;
  const answer = await client.send(request, [EXISTS]);
  if (answer.status === EXISTS) await requireOwn(headsOf(client), location, { writeId, sent: answer.sent });
}

const BYTES = 'application/octet-stream';

/** Begins a resumable upload, whose parts come one after the other. */
export async function beginGcsUpload(
  client: GcsClient,
  location: string,
  checksums: Checksums | undefined,
): Promise<PartUpload> {
  const { bucket, key } = gcsPlace(location);
  const writeId = randomUUID();
  const resource = { name: key, contentType: BYTES, metadata: ownHeaders(OWN, writeId, checksums) };
  const answer = await client.send({
    method: 'POST',
    path: `/upload/storage/v1/b/${bucket}/o`,
    query: { uploadType: 'resumable', name: key, ...CREATE },
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: Buffer.from(JSON.stringify(resource)),
  });
  const session = answer.headers.location;
  if (session === undefined || !URL.canParse(session)) throw new Error('the store began no upload');
  const { pathname, search } = new URL(session);
  return new ResumableUpload(client, location, { writeId, path: pathname + search });
}

/**
 * An upload whose last part says how many bytes there are; so each part is sent when the next one comes. Its session is no secret: requests have
 * the token as well.
 */
class ResumableUpload implements PartUpload {
  readonly #client: GcsClient;
  readonly #location: string;
  readonly #path: string;
  readonly #writeId: string;
  readonly #md5 = createHash('md5');
  #held: Uint8Array | undefined;
  #sentBytes = 0;

  constructor(client: GcsClient, location: string, ids: { readonly writeId: string; readonly path: string }) {
    this.#client = client;
    this.#location = location;
    this.#path = ids.path;
    this.#writeId = ids.writeId;
  }

  async add(body: Uint8Array): Promise<void> {
    this.#md5.update(body);
    const held = this.#held;
    this.#held = body;
    if (held === undefined) return;
    try {
      await this.#send(held, null);
    } catch (error) {
      throw storageError(this.#location, error);
    }
  }

  async complete(): Promise<void> {
    const last = this.#held ?? new Uint8Array();
    try {
      const answer = await this.#send(last, this.#sentBytes + last.length);
      const { md5Hash } = JSON.parse(answer) as { md5Hash?: unknown };
      if (md5Hash === undefined || md5Hash === this.#md5.digest('base64')) return;
      await this.#client.send({ method: 'DELETE', path: resourcePath(gcsPlace(this.#location)) }, [404]);
      throw new Error('the store has other bytes than were sent');
    } catch (error) {
      throw storageError(this.#location, error);
    }
  }

  /** Sends a part, from where the store says that it has come to. @param total bytes of the object, when it is the last part */
  async #send(body: Uint8Array, total: number | null): Promise<string> {
    const begin = this.#sentBytes;
    const end = begin + body.length;
    for (let at = begin, stalls = 0; ;) {
      const range = at === end ? '*' : `${at}-${end - 1}`;
      const headers = { 'content-range': `bytes ${range}/${total ?? '*'}`, 'content-type': BYTES };
      const part = { method: 'PUT', path: this.#path, headers, body: body.subarray(at - begin) } as const;
      const answer = await this.#client.send(part, [GOES_ON, EXISTS]);
      if (answer.status === EXISTS) {
        await requireOwn(headsOf(this.#client), this.#location, { writeId: this.#writeId, sent: answer.sent });
        return '{}';
      }
      if (answer.status !== GOES_ON) {
        if (total === null) throw gcsError(answer);
        return answer.body.toString();
      }
      const [, last] = /^bytes=0-(\d+)$/.exec((answer.headers.range ?? '').replace(' ', '=')) ?? [];
      const whole = last === undefined ? 0 : Number(last) + 1;
      if (whole > end || whole < begin) throw new Error('the store has lost a part of the upload');
      if (whole === end && total === null) break;
      stalls = whole === at ? stalls + 1 : 0;
      if (stalls > STALLS_MAX || !this.#client.mayRepeat()) throw new Error('the store takes no more of the upload');
      at = whole;
    }
    this.#sentBytes = end;
    return '';
  }

  async abort(): Promise<void> {
    await this.#client
      .detached()
      // The store answers 499 when it has ended the session.
      .send({ method: 'DELETE', path: this.#path }, [404, 410, 499])
      .catch(() => undefined);
  }
}

/** Copies an object within the store, over another one. @throws FileNotFound, STORAGE_ERROR */
export async function copyGcsObject(client: GcsClient, from: string, to: string): Promise<void> {
  try {
    const facts = await headGcsObject(client, from);
    if (facts === undefined) throw new FileNotFound(from);
    const path = `${resourcePath(gcsPlace(from))}/rewriteTo${resourcePath(gcsPlace(to)).replace('/storage/v1', '')}`;
    let rewriteToken: string | undefined;
    for (let copies = 0; copies < COPIES_MAX; copies++) {
      const query = { sourceGeneration: facts.etag, ...(rewriteToken === undefined ? {} : { rewriteToken }) };
      const answer = await client.send({ method: 'POST', path, query });
      const state = JSON.parse(answer.body.toString()) as { done?: boolean; rewriteToken?: string };
      if (state.done === true) return;
      rewriteToken = state.rewriteToken;
      if (rewriteToken === undefined) throw gcsError(answer);
    }
    throw new Error('the copy has no end');
  } catch (error) {
    if (error instanceof FileNotFound) throw error;
    throw isMissing(error) || (error instanceof StoreError && error.status === 412)
      ? new FileNotFound(from)
      : storageError(to, error);
  }
}
