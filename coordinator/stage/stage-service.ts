import { setImmediate as nextTurn } from 'node:timers/promises';
import { principalOf, type Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { Keyring } from '#shared/keyring.ts';
import { stageFileNames } from '#shared/stage/stage-path.ts';
import type { Stage, StageCatalog, StageUpload } from '../catalog-client/stage-catalog.ts';
import { openStage, type StageAsker } from './open-stage.ts';
import { signUrl, verifyUrl, type SignedRequest } from './signed-url.ts';
import { openStageFile, requireStageFile, type OpenedStageFile, type StageFile } from './stage-files.ts';
import { parseStageReference, type StageReference } from './stage-reference.ts';
import { StageUploads } from './stage-uploads.ts';
import { catalogSigner, holdsToSize, STORE_PART_BYTES_MIN, storeSigner } from './store-signer.ts';
import type { SentPart } from './upload-parts.ts';
import { fileUrls, partUrls, uploadIdFor, planParts, type FileUrl, type UrlSigner } from './stage-urls.ts';

/** URLs that are signed before others have a turn. */
const URLS_AT_ONCE = 100;

type Options = {
  readonly catalog: StageCatalog;
  readonly uploads: StageUploads;
  readonly keyring: Keyring;
  readonly nowMs: () => number;
  readonly urlTtlMs: number;
  readonly urlTtlMsMax: number;
  /** Most bytes of a file, or of a part of one. */
  readonly fileBytesMax: number;
};

/** Whose URLs a client wants: the coordinator's own, or, where the store has any, the store's. */
type Through = { readonly through?: 'coordinator' | undefined };

/** How a request names a file of a stage. */
type NamedFile = { readonly stage: string; readonly path: string };
type NamedUpload = NamedFile & { readonly uploadId: string };

/** A file, or a part of one whose URL has ended before it was sent. */
type WantedFile = { readonly path: string; readonly size?: number; readonly part?: WantedPart };
type WantedPart = { readonly uploadId: string; readonly number: number };

/** The files of stages, as clients over HTTP put and read them. */
export class StageService {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * URLs for files of a stage, or for parts of uploads. @param base URL of this coordinator
   * @throws INVALID_REQUEST for a path, UPLOAD_NOT_FOUND, PAYLOAD_TOO_LARGE, the errors of `openStage`
   */
  async presign(
    asker: StageAsker,
    base: string,
    request: {
      readonly stage: string;
      readonly files: readonly WantedFile[];
      readonly method: 'PUT' | 'GET';
      readonly expiresInMs: number | null;
    } & Through,
  ): Promise<readonly FileUrl[]> {
    const { files, method } = request;
    for (const { path } of files) stageFileNames(path);
    const until = this.#expiry(request.expiresInMs);
    const action = method === 'PUT' ? 'stage.write' : 'stage.read';
    const stage = await openStage(stageOf(request.stage), action, asker);
    const principal = asker.caller.claims;
    const own = this.#ownSigner(base);
    const ofStage = this.#storeSigner(stage, principal) ?? own;
    const signer = request.through === 'coordinator' ? own : ofStage;
    const expiresAtMs = Math.min(until, signer.endsAtMs);
    const findUpload = this.#uploadFinder(asker, stage.id);
    const wish = async ({ path, size, part }: WantedFile) => {
      const sized = size === undefined || method === 'GET' ? {} : { sizeBytes: this.#checked(size) };
      const common = { ...sized, path, method, stageId: stage.id, principal: principalOf(principal) };
      if (part === undefined) {
        const request = { ...common, expiresAtMs };
        return { signer: holdsToSize(stage, request) ? signer : own, request };
      }
      const upload = await findUpload(path, part.uploadId);
      const endMs = Math.min(expiresAtMs, upload.expiresAtMs);
      const ofUpload = upload.storeUploadId === null ? own : ofStage;
      const { number } = part;
      const request = { ...common, part: { number, uploadId: uploadIdFor(ofUpload, upload) }, expiresAtMs: endMs };
      return { signer: ofUpload, request };
    };
    const urls: FileUrl[] = [];
    for (let at = 0; at < files.length; at += URLS_AT_ONCE) {
      urls.push(...(await fileUrls(await Promise.all(files.slice(at, at + URLS_AT_ONCE).map(wish)))));
      await nextTurn();
    }
    return urls;
  }

  /** Begins an upload in parts. @throws as `presign`, QUEUE_FULL */
  async begin(
    asker: StageAsker,
    base: string,
    request: NamedFile &
      Through & {
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
    const until = this.#expiry(request.expiresInMs);
    const stage = await openStage(stageOf(request.stage), 'stage.write', asker);
    const principal = asker.caller.claims;
    const isAtStore = request.through !== 'coordinator' && this.#storeSigner(stage, principal) !== undefined;
    const plan = planParts(sizeBytes, request.partBytes, stage.location.startsWith('file:') ? 0 : STORE_PART_BYTES_MIN);
    if (isAtStore) this.#checked(Math.min(plan.partBytes, sizeBytes ?? Infinity));
    const { partBytes } = plan;
    const to = { stageId: stage.id, path, partBytes, sizeBytes, isAtStore };
    const upload = await this.#options.uploads.begin(principal, to);
    const ofStore = upload.storeUploadId === null ? undefined : this.#storeSigner(upload.stage, principal);
    const signer = ofStore ?? this.#ownSigner(base);
    const expiresAtMs = Math.min(until, upload.expiresAtMs, signer.endsAtMs);
    const parts: { readonly number: number; readonly url: string }[] = [];
    for (let at = 0; at < plan.parts.length; at += URLS_AT_ONCE) {
      const some = plan.parts.slice(at, at + URLS_AT_ONCE);
      parts.push(...(await partUrls(signer, { principal, upload, expiresAtMs }, some)));
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

  /** Undefined where clients come through the coordinator. */
  #storeSigner(stage: Stage, principal: Principal): UrlSigner | undefined {
    const { catalog, nowMs } = this.#options;
    return storeSigner(stage, nowMs) ?? catalogSigner(stage, { catalog, principal });
  }

  #ownSigner(base: string): UrlSigner {
    const { keyring } = this.#options;
    return {
      endsAtMs: Infinity,
      usesStoreIds: false,
      sign: (requests) => Promise.resolve(requests.map((request) => ({ url: signUrl(request, base, keyring) }))),
    };
  }

  /** The size of a file that goes to the store itself, where nobody counts its bytes. @throws PAYLOAD_TOO_LARGE */
  #checked(sizeBytes: number): number {
    const { fileBytesMax } = this.#options;
    if (sizeBytes <= fileBytesMax) return sizeBytes;
    throw new SkeinError('PAYLOAD_TOO_LARGE', `a file, or a part of one, has at most ${fileBytesMax} bytes`);
  }

  /** Finds uploads into a stage, each once. */
  #uploadFinder(asker: StageAsker, stageId: string): (path: string, uploadId: string) => Promise<StageUpload> {
    const found = new Map<string, Promise<StageUpload>>();
    return (path, uploadId) => {
      const id = `${uploadId} ${path}`;
      const upload = found.get(id) ?? this.#options.uploads.find(asker.caller.claims, { uploadId, stageId, path });
      found.set(id, upload);
      return upload;
    };
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
