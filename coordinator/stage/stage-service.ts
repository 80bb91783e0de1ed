import { setImmediate as nextTurn } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import type { Keyring } from '#shared/keyring.ts';
import { stageFileNames } from '#shared/stage/stage-path.ts';
import type { StageCatalog, StageUpload } from '../catalog-client/stage-catalog.ts';
import { openStage, type StageAsker } from './open-stage.ts';
import { signUrl, verifyUrl, type SignedRequest } from './signed-url.ts';
import { openStageFile, requireStageFile, type OpenedStageFile, type StageFile } from './stage-files.ts';
import { parseStageReference, type StageReference } from './stage-reference.ts';
import { StageUploads, type SentPart } from './stage-uploads.ts';
import { fileUrl, partUrls, planParts, type FileUrl, type UrlSigner } from './stage-urls.ts';

/** URLs that are signed before others have a turn. */
const URLS_AT_ONCE = 100;

type Options = {
  readonly catalog: StageCatalog;
  readonly uploads: StageUploads;
  readonly keyring: Keyring;
  readonly nowMs: () => number;
  readonly urlTtlMs: number;
  readonly urlTtlMsMax: number;
};

/** How a request names a file of a stage. */
type NamedFile = { readonly stage: string; readonly path: string };
type NamedUpload = NamedFile & { readonly uploadId: string };

/** The files of stages, as clients over HTTP put and read them. */
export class StageService {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * URLs for files of a stage. @param base URL of this coordinator
   * @throws INVALID_REQUEST for a path, the errors of `openStage`
   */
  async presign(
    asker: StageAsker,
    base: string,
    request: {
      readonly stage: string;
      readonly files: readonly { readonly path: string; readonly size?: number }[];
      readonly method: 'PUT' | 'GET';
      readonly expiresInMs: number | null;
    },
  ): Promise<readonly FileUrl[]> {
    const { files, method } = request;
    for (const { path } of files) stageFileNames(path);
    const expiresAtMs = this.#expiry(request.expiresInMs);
    const action = method === 'PUT' ? 'stage.write' : 'stage.read';
    const stage = await openStage(stageOf(request.stage), action, asker);
    const to = { stage, principal: asker.caller.claims };
    const signer = this.#signer(base);
    const urls: FileUrl[] = [];
    for (const { path, size } of files) {
      const sized = size === undefined || method === 'GET' ? {} : { sizeBytes: size };
      urls.push(fileUrl(signer, to, { path, method, expiresAtMs, ...sized }));
      if (urls.length % URLS_AT_ONCE === 0) await nextTurn();
    }
    return urls;
  }

  /** Begins an upload in parts. @throws as `presign`, QUEUE_FULL */
  async begin(
    asker: StageAsker,
    base: string,
    request: NamedFile & {
      readonly sizeBytes: number | null;
      readonly partBytes: number | null;
      readonly expiresInMs: number | null;
    },
  ): Promise<{
    readonly upload: StageUpload;
    readonly parts: readonly { readonly number: number; readonly url: string }[];
    readonly expiresAtMs: number;
  }> {
    const { path, sizeBytes } = request;
    stageFileNames(path);
    const plan = planParts(sizeBytes, request.partBytes);
    const until = this.#expiry(request.expiresInMs);
    const stage = await openStage(stageOf(request.stage), 'stage.write', asker);
    const principal = asker.caller.claims;
    const { partBytes } = plan;
    const upload = await this.#options.uploads.begin(principal, { stageId: stage.id, path, partBytes, sizeBytes });
    const expiresAtMs = Math.min(until, upload.expiresAtMs);
    const parts: { readonly number: number; readonly url: string }[] = [];
    for (let at = 0; at < plan.parts.length; at += URLS_AT_ONCE) {
      const some = { ...plan, parts: plan.parts.slice(at, at + URLS_AT_ONCE) };
      parts.push(...partUrls(this.#signer(base), { principal, upload, plan: some, expiresAtMs }));
      await nextTurn();
    }
    return { upload, parts, expiresAtMs };
  }

  /** @throws UPLOAD_NOT_FOUND, INVALID_REQUEST, as `presign` */
  async complete(asker: StageAsker, named: NamedUpload, parts: readonly SentPart[]): Promise<StageFile> {
    return this.#options.uploads.complete(asker.caller.claims, await this.#uploadOf(asker, named), parts);
  }

  /** @throws UPLOAD_NOT_FOUND, INVALID_REQUEST, as `presign` */
  async abort(asker: StageAsker, named: NamedUpload): Promise<void> {
    await this.#options.uploads.abort(asker.caller.claims, await this.#uploadOf(asker, named));
  }

  /** Reads the permission that a URL carries. @throws URL_NOT_VALID */
  verify(signature: string, used: { readonly method: string; readonly path: string }): SignedRequest {
    const { keyring, nowMs } = this.#options;
    return verifyUrl(signature, used, { keyring, nowMs: nowMs() });
  }

  /** Puts the file, or the part, that a URL is for. @throws STAGE_NOT_FOUND, UPLOAD_NOT_FOUND, STORAGE_FULL, what the bytes throw */
  async put(
    signed: SignedRequest,
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<Pick<StageFile, 'path' | 'sizeBytes' | 'etag'>> {
    const { uploads } = this.#options;
    const { principal, stageId, path, part, sizeBytes = null } = signed;
    if (part === undefined) return uploads.putFile(principal, { stageId, path, sizeBytes }, chunks);
    let bytes = 0;
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    const etag = await uploads.putPart(principal, part, counted());
    return { path, sizeBytes: bytes, etag };
  }

  /** Opens the file that a URL is for. @throws STAGE_NOT_FOUND, STAGE_FILE_NOT_FOUND */
  async open({ principal, stageId, path }: SignedRequest): Promise<OpenedStageFile> {
    const stage = await this.#options.catalog.openById(principal, 'stage.read', stageId);
    await requireStageFile(stage, path);
    return openStageFile(stage, path);
  }

  #signer(base: string): UrlSigner {
    return { sign: (request) => signUrl(request, base, this.#options.keyring) };
  }

  async #uploadOf(asker: StageAsker, { stage, path, uploadId }: NamedUpload) {
    const { id: stageId } = await openStage(stageOf(stage), 'stage.write', asker);
    return { uploadId, stageId, path };
  }

  /** @throws INVALID_REQUEST */
  #expiry(expiresInMs: number | null): number {
    const { urlTtlMs, urlTtlMsMax, nowMs } = this.#options;
    const ttlMs = expiresInMs ?? urlTtlMs;
    if (ttlMs <= urlTtlMsMax) return nowMs() + ttlMs;
    throw new SkeinError('INVALID_REQUEST', `expires_in is at most ${Math.floor(urlTtlMsMax / 1_000)} seconds`);
  }
}

/** The stage that a request names, with or without `@`. @throws SYNTAX_ERROR, INVALID_REQUEST when it has a path */
function stageOf(text: string): StageReference {
  const reference = parseStageReference(text.startsWith('@') ? text : `@${text}`, 0);
  if (reference.path === '') return reference;
  throw new SkeinError('INVALID_REQUEST', 'the stage stands without a path: each file has its own');
}
