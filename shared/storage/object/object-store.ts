import type { Checksums, ListedFile } from '#shared/storage/storage.ts';
import type { StoreAnswer } from './send-request.ts';

/**
 * The requests of one kind of store. Everything above them is the same for all (`object-storage.ts`): bodies that end early, checksums,
 * parts. They throw errors of the store as they are, `storageError` of which the callers make.
 */
export interface ObjectStore {
  /** The canonical location of an object. @throws NOT_SUPPORTED, INVALID_REQUEST for what is none of this store */
  locationOf(location: string): string;
  /** Reads an object, or a range of it. A range behind its end is answered by `EMPTY_RANGE`. */
  get(location: string, reading: Reading): Promise<ReadAnswer>;
  /** Whether the store knows the last bytes of an object by their number. */
  readonly hasTails: boolean;
  /** The facts of an object; undefined when it is not there, or is a folder. */
  head(location: string): Promise<HeadFacts | undefined>;
  /** Whether a request may be sent again for what its answer held. */
  mayRepeat(): boolean;
  /** Creates an object in one request. @throws STORAGE_ERROR when it exists */
  put(location: string, body: Uint8Array, checksums: Checksums): Promise<void>;
  /** Begins an object of several parts. */
  beginUpload(location: string, checksums: Checksums | undefined): Promise<PartUpload>;
  /** Copies an object within the store, over another one. @throws FileNotFound */
  copy(from: string, to: string): Promise<void>;
  /** The objects below a folder, page by page. @throws STORAGE_ERROR */
  list(folder: string, pageSize?: number): AsyncGenerator<readonly ListedFile[]>;
  /** Deletes objects, as many as possible. @throws FilesStayed */
  remove(locations: readonly string[]): Promise<void>;
  /** Ends uploads that were begun below a folder, of objects whose names hold a text. @returns their number */
  abortUploads(folder: string, text: string): Promise<number>;
}

/** An object that is written in parts of one size, the last one smaller. Until it is complete it is not there. */
export interface PartUpload {
  /** Sends a part; waits until few enough are on their way. @throws the error of an earlier part, too */
  add(body: Uint8Array): Promise<void>;
  /** @throws STORAGE_ERROR when an object of the name exists */
  complete(): Promise<void>;
  /** Ends the upload; never throws: the journal finds what stays. */
  abort(): Promise<void>;
}

/** The facts of an object that its answers tell. */
export type ObjectFacts = {
  readonly sizeBytes: number;
  /** Another one for each object of the name: an ETag, or a generation. Empty when the store gives none. */
  readonly etag: string;
  readonly modifiedMs: number;
  /** As its writer has computed them; null when it did not. */
  readonly checksums: Checksums | null;
};

export type HeadFacts = ObjectFacts & { readonly writeId: string | undefined };

export type Reading = {
  /** Bytes `[begin, end)`, or the last ones; null = the whole object. */
  readonly range: { readonly begin: number; readonly end: number } | { readonly tail: number } | null;
  /** The object that is meant has it; null = of whatever is there. */
  readonly etag: string | null;
  readonly bytesMax: number;
};

/** The answer to a read is a part, though perhaps of the whole object. */
export const PART = 206;
export const EMPTY_RANGE = 416;

export type ReadAnswer = Pick<StoreAnswer, 'status' | 'body' | 'isCut'> & {
  readonly facts: ObjectFacts;
  /** The length that the head of the answer promised. */
  readonly promisedBytes: number | undefined;
  /** Bytes `[begin, end)` that the answer says it has. */
  readonly given: { readonly begin: number; readonly end: number } | undefined;
  /** Compares a whole object with a checksum of the store; null when it gives none. */
  readonly isWhole: ((body: Uint8Array) => boolean) | null;
};

/** Reads what the stores' answers have in common: the headers of HTTP. */
export function readAnswerOf(
  { status, headers, body, isCut }: StoreAnswer,
  { etag, checksums }: Pick<ObjectFacts, 'etag' | 'checksums'>,
  isWhole: ReadAnswer['isWhole'] = null,
): ReadAnswer {
  const [, first, last, total] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  const length = headers['content-length'];
  return {
    status,
    body,
    isCut,
    facts: {
      sizeBytes: Number(total ?? length ?? body.length),
      etag,
      modifiedMs: Date.parse(headers['last-modified'] ?? '') || 0,
      checksums,
    },
    promisedBytes: length === undefined ? undefined : Number(length),
    given:
      status === PART && first !== undefined && last !== undefined
        ? { begin: Number(first), end: Number(last) + 1 }
        : undefined,
    isWhole,
  };
}

/** The header of a range. */
export const rangeHeader = (range: Reading['range']): Readonly<Record<string, string>> => {
  if (range === null) return {};
  return { range: 'tail' in range ? `bytes=-${range.tail}` : `bytes=${range.begin}-${range.end - 1}` };
};

/** An ETag without its quotes. */
export const unquoted = (etag: string): string => etag.replace(/^"|"$/g, '');
