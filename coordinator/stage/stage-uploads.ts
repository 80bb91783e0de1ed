import { createHash, randomUUID } from 'node:crypto';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { StageCatalog, StageUpload } from '../catalog-client/stage-catalog.ts';
import {
  placeUploadFile,
  readUploadFiles,
  removeUpload,
  removeUploadFiles,
  renameUploadFile,
  requireStageFile,
  uploadFiles,
  writeUploadFile,
  type StageFile,
} from './stage-files.ts';
import { abortAtStore, completeAtStore } from './store-uploads.ts';
import { checkUploadParts, partName, type SentPart } from './upload-parts.ts';

/** The name of the file while it comes in one request, and when its parts have been put together. */
const WHOLE = 'whole';

/**
 * Files on their way into stages. Each is written beside the stage's files, and gets its place when it is whole: a reader sees the old file
 * or the new one. The catalog knows of every upload before its first byte, and deletes what a dead one has left. What a request has
 * acknowledged is on the disk.
 */
export class StageUploads {
  readonly #catalog: StageCatalog;
  readonly #log: Logger;

  constructor(catalog: StageCatalog, log: Logger) {
    this.#catalog = catalog;
    this.#log = log;
  }

  /** Puts a file into a stage, in the place of an earlier one. @throws STAGE_NOT_FOUND, STORAGE_FULL, what the bytes throw */
  async putFile(
    principal: Principal,
    to: { readonly stageId: string; readonly path: string; readonly sizeBytes: number | null },
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<StageFile> {
    const upload = await this.#catalog.beginUpload(principal, { ...to, id: randomUUID(), partBytes: 0 });
    try {
      await writeUploadFile(upload, WHOLE, chunks);
      return await placeUploadFile(upload, WHOLE);
    } finally {
      await this.#end(upload, false);
    }
  }

  /** Begins an upload in parts, which any number of requests at once may send. @throws STAGE_NOT_FOUND, QUEUE_FULL */
  begin(
    principal: Principal,
    to: {
      readonly stageId: string;
      readonly path: string;
      readonly partBytes: number;
      readonly sizeBytes: number | null;
      /** Clients send the parts to the store itself, where it can be. */
      readonly isAtStore: boolean;
    },
  ): Promise<StageUpload> {
    return this.#catalog.beginUpload(principal, { ...to, id: randomUUID() });
  }

  /**
   * Takes a part; one that was sent before is replaced. @returns its ETag, the MD5 of its bytes
   * @throws UPLOAD_NOT_FOUND when the upload ends meanwhile; what the bytes throw
   */
  async putPart(
    principal: Principal,
    { uploadId, number }: { readonly uploadId: string; readonly number: number },
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<string> {
    const upload = await this.#catalog.findUpload(principal, uploadId);
    const hash = createHash('md5');
    const coming = `coming-${randomUUID()}`;
    await writeUploadFile(upload, coming, hashed(chunks, hash));
    const etag = hash.digest('hex');
    const name = partName(number, etag);
    try {
      // Whoever has ended the upload meanwhile has deleted its files, but for this one.
      await this.#catalog.findUpload(principal, uploadId);
    } catch (error) {
      await removeUploadFiles(upload, [coming]);
      throw error;
    }
    await renameUploadFile(upload, coming, name);
    const earlier = [...(await uploadFiles(upload)).keys()].filter(
      (file) => file.startsWith(`part-${number}-`) && file !== name,
    );
    await removeUploadFiles(upload, earlier);
    return etag;
  }

  /**
   * Puts the parts together to the file, in the order of their numbers. It may be sent again until it is answered.
   * @throws UPLOAD_NOT_FOUND; INVALID_REQUEST for parts that have not come, that are not in order, or are not as long as they must be
   */
  async complete(
    principal: Principal,
    of: { readonly uploadId: string; readonly stageId: string; readonly path: string },
    parts: readonly SentPart[],
  ): Promise<StageFile> {
    const upload = await this.find(principal, of);
    if (upload.storeUploadId !== null) {
      await completeAtStore(upload, parts);
      const file = await requireStageFile(upload.stage, upload.path);
      await this.#end(upload, true);
      return file;
    }
    const names = checkUploadParts(upload, parts, await uploadFiles(upload));
    const whole = `${WHOLE}-${randomUUID()}`;
    await writeUploadFile(upload, whole, readUploadFiles(upload, names));
    const file = await placeUploadFile(upload, whole);
    await this.#end(upload, true);
    return file;
  }

  /** Ends an upload without a file. @throws UPLOAD_NOT_FOUND, INVALID_REQUEST */
  async abort(
    principal: Principal,
    of: { readonly uploadId: string; readonly stageId: string; readonly path: string },
  ): Promise<void> {
    await this.#end(await this.find(principal, of), true);
  }

  /** An open upload of this file. @throws UPLOAD_NOT_FOUND, INVALID_REQUEST when it is for another one */
  async find(
    principal: Principal,
    of: { readonly uploadId: string; readonly stageId: string; readonly path: string },
  ): Promise<StageUpload> {
    const upload = await this.#catalog.findUpload(principal, of.uploadId);
    if (upload.stage.id === of.stageId && upload.path === of.path) return upload;
    throw new SkeinError('INVALID_REQUEST', `the upload is for ${upload.path}, or into another stage`);
  }

  /** A part that cannot be deleted now is deleted by the catalog when the upload's time is over. */
  async #end(upload: StageUpload, inParts: boolean): Promise<void> {
    try {
      if (inParts) await this.#catalog.endUpload(upload.id, true);
      if (upload.storeUploadId !== null) return await abortAtStore(upload);
      await removeUpload(upload);
      if (!inParts) await this.#catalog.endUpload(upload.id, false);
    } catch (error) {
      this.#log.warn({ err: error, upload: upload.id }, 'an upload could not be tidied up');
    }
  }
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}
