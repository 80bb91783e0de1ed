import { realpathSync } from 'node:fs';
import { MemoryUses } from '#shared/memory-uses.ts';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { TaskSpec } from '#shared/task/task.ts';
import type { ErrorCode, SkeinError } from '#shared/error.ts';
import type { KeptObject } from './kept-objects.ts';
import { CopyTable, copyKey, copyName, tenantFolder, type HeldCopy } from './copy-table.ts';

/** How a slot finds the copies: the memory of the table, the folder of the copies' folders, and the smallest file that is copied. */
export type CopySettings = {
  readonly table: SharedArrayBuffer;
  readonly folder: string;
  readonly fileBytesMin: number;
};

/** A file that a task reads and that has no copy. `path` is the one by which DuckDB reads it. */
export type FileRead = {
  readonly key: string;
  /**
   * Where `path` leads, of which it was checked that it may: the copy is one of the file there. Null = the worker's own file, which no tenant
   * reaches, and which tasks link.
   */
  readonly real: string | null;
  readonly tenant: string;
  readonly queryId: string;
  readonly path: string;
  readonly sizeBytes: number;
};

/** The messages of a slot's thread to the main thread. */
export type ReadsMessage =
  | { readonly kind: 'reads'; readonly reads: readonly FileRead[] }
  | { readonly kind: 'unreadable'; readonly keys: readonly string[] }
  /** A task uses a kept copy of an object, which has so many bytes by now. */
  | ({ readonly kind: 'object' } & KeptObject);

/** Errors of files. */
const FILE_ERRORS: ReadonlySet<ErrorCode> = new Set(['INVALID_TABLE_DATA', 'STORAGE_ERROR']);

/** Undefined when the file has just gone. */
function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Files that one task tells of. */
const READS_MAX = 1_000;
/** Reads that a slot's thread does not tell again for `TOLD_MS`. */
const TOLD_MAX = 8_192;
const TOLD_MS = 1_000;

/** The way of one slot's thread to the copies. */
export class CopyReader {
  readonly #parts: ThreadParts;

  constructor(
    { table, folder, fileBytesMin }: CopySettings,
    tell: ThreadParts['tell'],
    uses: MemoryUses = new MemoryUses(),
  ) {
    const told = new LRUCache<string, true>({ max: TOLD_MAX, ttl: TOLD_MS });
    this.#parts = { folder, fileBytesMin, table: new CopyTable(table), told, tell, uses };
  }

  of({ tenant, queryId }: Pick<TaskSpec, 'tenant' | 'queryId'>): CopiedFiles {
    const folder = join(this.#parts.folder, tenantFolder(tenant));
    return new CopiedFiles({ ...this.#parts, tenant, queryId, folder });
  }
}

/** State that all tasks of a thread share. `told`: keys of the reads that the main thread was told of. */
type ThreadParts = Pick<CopySettings, 'folder' | 'fileBytesMin'> & {
  readonly table: CopyTable;
  readonly told: LRUCache<string, true>;
  readonly tell: (message: ReadsMessage) => void;
  readonly uses: MemoryUses;
};

/** The same for one task; `folder` is that of its tenant. */
type TaskParts = ThreadParts & Pick<TaskSpec, 'tenant' | 'queryId'>;

/** A data file as a table refers to it. */
export type NamedFile = { readonly tableUuid: string; readonly path: string; readonly sizeBytes: number };

/** A data file of a scan. */
export type ScannedFile = NamedFile & {
  /** The path by which DuckDB reads it. */
  readonly local: string;
  /** A copy would serve the scan: it reads most of the file's rows, and they are packed. */
  readonly isWorthCopying: boolean;
};

/** The copies that one task reads in place of its files. They are held until it is disposed. */
export class CopiedFiles implements Disposable {
  readonly #parts: TaskParts;
  readonly #held = new Map<string, HeldCopy>();
  #reads: FileRead[] = [];

  constructor(parts: TaskParts) {
    this.#parts = parts;
  }

  /** The folder of the tenant's copies. */
  get folder(): string {
    return this.#parts.folder;
  }

  /** Whether files of this size are copied. */
  mayCopy({ sizeBytes }: Pick<NamedFile, 'sizeBytes'>): boolean {
    return sizeBytes >= this.#parts.fileBytesMin;
  }

  /** The path by which DuckDB reads the file: that of its copy, if there is one. */
  pathOf(file: ScannedFile): string {
    const copy = this.copyOf(file);
    if (copy !== undefined || file.isWorthCopying) this.#parts.uses.count(copy !== undefined);
    if (copy === undefined && file.isWorthCopying) this.noteRead(file, file.local, 'tenant');
    return copy ?? file.local;
  }

  /** The path of the file's copy, if there is one. */
  copyOf({ tableUuid, path, sizeBytes }: NamedFile): string | undefined {
    const { tenant, table, folder } = this.#parts;
    if (!this.mayCopy({ sizeBytes })) return undefined;
    const key = copyKey(tenant, tableUuid, { path, sizeBytes });
    const held = this.#held.get(key) ?? table.hold(key, Date.now());
    if (held === undefined) return undefined;
    this.#held.set(key, held);
    return join(folder, copyName(key, held.serial));
  }

  /** A copy would have served the task. @param source the path by which the copy can be made */
  noteRead({ tableUuid, path, sizeBytes }: NamedFile, source: string, whose: 'tenant' | 'worker'): void {
    const { tenant, queryId } = this.#parts;
    if (!this.mayCopy({ sizeBytes }) || this.#reads.length >= READS_MAX) return;
    const key = copyKey(tenant, tableUuid, { path, sizeBytes });
    const real = whose === 'worker' ? null : realPathOf(source);
    if (real !== undefined) this.#reads.push({ key, tenant, queryId, path: source, real, sizeBytes });
  }

  /** Tells the main thread of the files that have no copy. */
  tellReads(): void {
    const { told, tell } = this.#parts;
    const reads = this.#reads.filter(({ key }) => !told.has(key));
    this.#reads = [];
    for (const { key } of reads) told.set(key, true);
    if (reads.length > 0) tell({ kind: 'reads', reads });
  }

  /** Gives up the copies when an error may be about one of them, and says so: DuckDB does not always name the file. The task can do without. */
  giveUpAfter({ code }: SkeinError): boolean {
    if (this.#held.size === 0 || !FILE_ERRORS.has(code)) return false;
    const keys = [...this.#held.keys()];
    this[Symbol.dispose]();
    this.#parts.tell({ kind: 'unreadable', keys });
    return true;
  }

  [Symbol.dispose](): void {
    for (const { place } of this.#held.values()) this.#parts.table.release(place);
    this.#held.clear();
  }
}
