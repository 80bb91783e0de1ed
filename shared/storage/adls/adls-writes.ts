import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileNotFound, type Checksums } from '#shared/storage/storage.ts';
import type { PartUpload } from '#shared/storage/object/object-store.ts';
import { PartsOnTheWay, requireOwn } from '#shared/storage/object/object-writes.ts';
import { md5Of } from '#shared/storage/object/md5.ts';
import { ownHeaders } from '#shared/storage/object/own-headers.ts';
import { isMissing, StoreError, storageError } from '#shared/storage/object/store-error.ts';
import type { ClientAnswer } from '#shared/storage/object/store-client.ts';
import { adlsError, type AdlsClient } from './adls-client.ts';
import { accountAddress, adlsPlace, blobPath } from './adls-place.ts';
import { AZURE_OWN, headBlob } from './adls-reads.ts';
import { discardBlocks } from './adls-uploads.ts';
import { blockId, blockList } from './blocks.ts';

/** Writes of objects of Azure's store: none replaces another but by `copyBlob`. */

/** Most blocks of an object, as Azure allows. */
const BLOCKS_MAX = 50_000;
/** Only where no object has the name. */
const CREATE = { 'if-none-match': '*' };
/** A condition that does not hold, and that of a name that is taken. */
const REFUSED: readonly number[] = [409, 412];
/** Waits for a copy, which the store makes by itself; of one account it is there at once, as a rule. */
const COPY_WAIT_MS = 200;
const COPY_WAITS_MAX = 3_000;

const headsOf = (client: AdlsClient): Parameters<typeof requireOwn>[0] => ({
  head: (location) => headBlob(client, location),
});

/** @throws unless the object is the one that the request has made */
async function requireMade(
  client: AdlsClient,
  location: string,
  { answer, writeId }: { readonly answer: ClientAnswer; readonly writeId: string },
): Promise<void> {
  if (answer.status < 400) return;
  const error = adlsError(answer);
  const isTaken = error.code === 'BlobAlreadyExists' || error.code === 'ConditionNotMet' || error.code === '';
  if (!isTaken) throw error;
  await requireOwn(headsOf(client), location, { writeId, sent: answer.sent });
}

/** Creates an object. The store compares its bytes with their MD5, and keeps it. @throws STORAGE_ERROR when it exists */
export async function putBlob(
  client: AdlsClient,
  location: string,
  { body, checksums }: { readonly body: Uint8Array; readonly checksums: Checksums },
): Promise<void> {
  const writeId = randomUUID();
  const headers = {
    ...CREATE,
    'x-ms-blob-type': 'BlockBlob',
    'content-md5': md5Of(body),
    ...ownHeaders(AZURE_OWN, writeId, checksums),
  };
  const answer = await client.send({ method: 'PUT', place: adlsPlace(location), headers, body }, REFUSED);
  await requireMade(client, location, { answer, writeId });
}

export class BlockUpload implements PartUpload {
  readonly #client: AdlsClient;
  readonly #location: string;
  readonly #checksums: Checksums | undefined;
  readonly #writeId = randomUUID();
  readonly #md5 = createHash('md5');
  readonly #blocks: PartsOnTheWay;

  constructor(client: AdlsClient, location: string, checksums: Checksums | undefined) {
    this.#client = client;
    this.#location = location;
    this.#checksums = checksums;
    this.#blocks = new PartsOnTheWay(location, BLOCKS_MAX);
  }

  async add(body: Uint8Array): Promise<void> {
    this.#md5.update(body);
    await this.#blocks.start(async (number) => {
      const blockid = blockId(this.#writeId, number);
      const query = { comp: 'block', blockid };
      const headers = { 'content-md5': md5Of(body) };
      await this.#client.send({ method: 'PUT', place: adlsPlace(this.#location), query, headers, body });
      return blockid;
    });
  }

  async complete(): Promise<void> {
    const body = blockList(await this.#blocks.all());
    const headers = {
      ...CREATE,
      'content-type': 'application/xml',
      'x-ms-blob-content-md5': this.#md5.digest('base64'),
      ...ownHeaders(AZURE_OWN, this.#writeId, this.#checksums),
    };
    const query = { comp: 'blocklist' };
    try {
      const request = { method: 'PUT', place: adlsPlace(this.#location), query, headers, body } as const;
      const answer = await this.#client.send(request, REFUSED);
      await requireMade(this.#client, this.#location, { answer, writeId: this.#writeId });
    } catch (error) {
      throw storageError(this.#location, error);
    }
  }

  async abort(): Promise<void> {
    await this.#blocks.settled();
    await discardBlocks(this.#client.detached(), this.#location).catch(() => undefined);
  }
}

/** Copies an object within the store, over another one. @param etag of the object that is meant @throws FileNotFound, STORAGE_ERROR */
export async function copyBlob(client: AdlsClient, from: string, to: string, etag?: string): Promise<void> {
  try {
    const facts = await headBlob(client, from);
    if (facts === undefined) throw new FileNotFound(from);
    const { sas, endpoint } = await client.credential();
    const source = adlsPlace(from);
    const { address, path } = accountAddress(source, endpoint);
    const headers = {
      'x-ms-copy-source': `${address}${path}${blobPath(source)}?${sas}`,
      'x-ms-source-if-match': `"${etag ?? facts.etag}"`,
    };
    const place = adlsPlace(to);
    let { headers: told } = await client.send({ method: 'PUT', place, headers });
    for (let waits = 0; told['x-ms-copy-status'] === 'pending'; waits++) {
      if (waits > COPY_WAITS_MAX) throw new Error('the copy has no end');
      await sleep(COPY_WAIT_MS);
      ({ headers: told } = await client.send({ method: 'HEAD', place }));
    }
    if (told['x-ms-copy-status'] !== 'success') throw new Error('the store did not copy the object');
  } catch (error) {
    if (error instanceof FileNotFound) throw error;
    throw isMissing(error) || (error instanceof StoreError && error.status === 412)
      ? new FileNotFound(from)
      : storageError(to, error);
  }
}
