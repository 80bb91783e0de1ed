/**
 * Files of a warehouse by URI. Every reader and writer of Iceberg metadata and manifests goes through it; the implementation for
 * `file:` is `local-file-io.ts`, object stores follow with credential vending.
 * Errors: `STORAGE_ERROR`; a missing file is `FileNotFound`, which callers turn into their own "not found".
 */
export interface FileIo {
  /** The whole file, which is never more than `bytesMax`: a larger one is `FileTooLarge`. A folder or a pipe is `FileNotFound`. */
  read(uri: string, bytesMax: number): Promise<Uint8Array>;
  /** Bytes `[offset, offset + length)`. */
  readRange(uri: string, offset: number, length: number): Promise<Uint8Array>;
  /** Creates the file and its folders, whole or not at all; never overwrites. Throws when it exists; `FileNotFound` when a folder cannot be, because a file lies there. */
  write(uri: string, bytes: Uint8Array): Promise<void>;
  /**
   * Makes a folder and its parents where the storage has folders, `private` ones for this account alone; one that exists is no error and stays
   * as it is. `FileNotFound` when a file lies in the way.
   */
  makeFolder(uri: string, access?: 'private'): Promise<void>;
  /** Removes the empty folders at and below a location, where the storage has folders; follows no symbolic link. */
  removeEmptyFolders(uri: string): Promise<void>;
  /** Whether a file is there; a folder is none. */
  exists(uri: string): Promise<boolean>;
  /** Resolves a location, following symbolic links where the storage has them; undefined when nothing exists there. */
  resolve(uri: string): Promise<string | undefined>;
  /** Deletes a file; a missing one is no error, nor is a folder, which stays. */
  remove(uri: string): Promise<void>;
}

export class FileNotFound extends Error {
  readonly uri: string;
  constructor(uri: string) {
    super(`file not found: ${uri}`);
    this.name = 'FileNotFound';
    this.uri = uri;
  }
}

export class FileTooLarge extends Error {
  constructor(uri: string, bytesMax: number) {
    super(`file is larger than ${bytesMax} bytes: ${uri}`);
    this.name = 'FileTooLarge';
  }
}
