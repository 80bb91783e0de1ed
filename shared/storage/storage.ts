import { SkeinError } from '#shared/error.ts';

/**
 * The files of a warehouse, by location. The catalog, coordinators, workers and `skein load` access them only through `openStorage`. The
 * methods are those that both a file system and an object store can implement: a file is written once and whole, and never changes.
 *
 * Every method may throw STORAGE_ERROR, and INVALID_REQUEST or NOT_SUPPORTED for a location outside of this storage; one that writes also
 * STORAGE_FULL. A missing file is `FileNotFound`, which callers convert to their own "not found".
 */
export interface Storage {
  /** Whether programs of this machine can open its files: then it has folders and links, too. */
  readonly isLocal: boolean;
  /** Reads a whole file. @throws FileTooLarge when it has more than `bytesMax` bytes, FileNotFound */
  read(location: string, bytesMax: number): Promise<Uint8Array>;
  /**
   * Reads bytes `[offset, offset + length)` of a file; fewer where it ends. @throws FileNotFound, FileReplaced
   * @param etag of the file that is meant, as `openFile` has told it
   */
  readRange(location: string, offset: number, length: number, etag?: string): Promise<Buffer>;
  /**
   * Opens a file for reads of several ranges and reads its last bytes, which an object store answers in one request. @throws FileNotFound
   */
  openFile(location: string, tailBytes: number): Promise<OpenedFile>;
  /**
   * Creates a file, whole or not at all, and the folders that it needs; never overwrites.
   * @throws STORAGE_ERROR when it exists, FileNotFound when a file is in the way of a folder
   */
  write(location: string, bytes: Uint8Array): Promise<void>;
  /**
   * Creates a file of bytes that come one after the other, like `write`. @returns its size
   * @param checksums of the bytes, where the caller knows them: a store that is not a file system keeps them with the file
   * @throws also what the bytes throw: then there is no file
   */
  writeStream(location: string, chunks: AsyncIterable<Uint8Array>, checksums?: Checksums): Promise<number>;
  /**
   * Gives a whole file its final name, in the place of a file of that name, and makes the folders that it needs. An object store copies it
   * within itself and then deletes the earlier name: readers of the final one see the old file or the new one. @throws FileNotFound
   */
  place(from: string, to: string): Promise<void>;
  /** Returns when a file that another program has written is on the disk. @throws FileNotFound, NOT_SUPPORTED unless `isLocal` */
  sync(location: string): Promise<void>;
  /** Lists the files below a folder, page by page, in any order; follows no symbolic link. A missing folder has no files. */
  list(folder: string): AsyncIterable<readonly string[]>;
  /** The same with size and time. A file that goes meanwhile is left out. */
  listFiles(folder: string): AsyncIterable<readonly ListedFile[]>;
  /** A file as `listFiles` gives it; undefined when it is not there. */
  fileAt(location: string): Promise<ListedFile | undefined>;
  /** The time at which a file was written, in ms since 1970; undefined when it is not there. */
  modifiedMs(location: string): Promise<number | undefined>;
  /**
   * Deletes files, as many as possible before it throws. A missing file is not an error; neither is a folder, which stays.
   * @throws FilesStayed, which has each file that is still there
   */
  remove(locations: readonly string[]): Promise<void>;
  /**
   * Ends the uploads below a folder that somebody began and did not end, of files whose names hold `text`; a file system has none.
   * @returns their number
   */
  abortUploads(folder: string, text: string): Promise<number>;
  /** Whether a file exists; a folder does not count. */
  exists(location: string): Promise<boolean>;
  /**
   * Makes a folder and its parents where the storage has folders, `private` ones for this account alone. An existing one stays as it is.
   * @throws FileNotFound when a file is in the way
   */
  makeFolder(location: string, access?: 'private'): Promise<void>;
  /** Removes the empty folders at and below a location, where the storage has folders; follows no symbolic link. */
  removeEmptyFolders(location: string): Promise<void>;
  /** Resolves a location, following symbolic links where the storage has them; undefined when nothing exists there. */
  resolve(location: string): Promise<string | undefined>;
  /** Returns the path by which programs of this machine, such as DuckDB, open a location. @throws NOT_SUPPORTED when they cannot */
  localPath(location: string): string;
}

/**
 * CRC-32 of a whole file and, of a Parquet file, of its segments (`worker/scan/segments.ts`), so that a reader of one column can compare
 * what it reads.
 */
export type Checksums = { readonly crc: number; readonly segments: readonly number[] | null };

export type ListedFile = {
  readonly location: string;
  readonly sizeBytes: number;
  /** Time of the last change, in ms since 1970. */
  readonly modifiedMs: number;
  /** Another one whenever the file has been replaced. */
  readonly etag: string;
};

/** The part of a storage that readers of metadata and manifests need: reading whole files. */
export type FileReader = Pick<Storage, 'read'>;

/** A file open for reads. All reads see the file that was opened, even when another one replaces it. */
export interface OpenedFile extends AsyncDisposable {
  readonly sizeBytes: number;
  /** The last bytes, as many as `openFile` asked for; fewer in a smaller file. */
  readonly tail: Buffer;
  /** Another one whenever the file has been replaced; empty when nobody can tell. */
  readonly etag: string;
  /** Told by its writer to the store, of its bytes; null when it did not. */
  readonly checksums: Checksums | null;
  /** Reads bytes `[offset, offset + length)`; fewer where the file ends. */
  read(offset: number, length: number): Promise<Buffer>;
}

export class FileNotFound extends Error {
  readonly uri: string;
  constructor(uri: string) {
    super(`file not found: ${uri}`);
    this.name = 'FileNotFound';
    this.uri = uri;
  }
}

/** Thrown when a folder, a pipe or a device has the name. */
export class NotAFile extends FileNotFound {}

/** Thrown by a read of a file that another one has replaced since it was opened. */
export class FileReplaced extends SkeinError {
  constructor(uri: string, cause: unknown) {
    super('STORAGE_ERROR', `${uri} was replaced while it was read`, { cause });
  }
}

export class FileTooLarge extends Error {
  constructor(uri: string, bytesMax: number) {
    super(`file is larger than ${bytesMax} bytes: ${uri}`);
    this.name = 'FileTooLarge';
  }
}
