import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { printJson } from '#shared/json.ts';
import type { ManifestFile } from './manifest.ts';
import type { PartitionSpec } from './partition-spec.ts';
import type { Snapshot, TableMetadata } from './table-metadata.ts';
import type { IcebergType } from './type.ts';

/**
 * Parsed manifests and manifest lists. The key says everything that decides what is parsed: the file, the table that refers to it with the
 * roots that it may read, and what of its reference is inherited. A path alone would not do: two tables, or two lists of one, may refer
 * to one file with other sequence numbers, row ids or partition fields. Who asks has checked that the file lies under those roots.
 */
export interface ManifestCache {
  /** The value under `key`, made at most once at a time; `bytes` is what it holds of memory, roughly. */
  load<T>(key: string, make: () => Promise<{ readonly value: T; readonly bytes: number }>): Promise<T>;
  /** The value under `key` if it is there. The caller names its type, which the key decides. */
  peek(key: string): unknown;
}

/** One cache for all tenants, in which each tenant sees only the entries of its own tables. */
export interface ManifestCaches {
  of(tenant: string): ManifestCache;
}

/** Stands for the table in the keys of its files. */
export const tableKey = (
  { tableUuid, formatVersion, location }: Pick<TableMetadata, 'tableUuid' | 'formatVersion' | 'location'>,
  allowedRoots: readonly string[],
): string => digest([tableUuid, formatVersion, location, allowedRoots]);

/** The key of a snapshot's manifest list. */
export const manifestListKey = (table: string, { snapshotId, sequenceNumber, manifestList }: Snapshot): string =>
  `list ${table} ${snapshotId} ${sequenceNumber} ${manifestList}`;

/** The key of a manifest. @param reading stands for the partition fields that it is read with, and their types: `readingKey` */
export const manifestKey = (table: string, manifest: ManifestFile, reading: string): string => {
  const { path, lengthBytes, content, sequenceNumber, addedSnapshotId, firstRowId } = manifest;
  return `${content} ${table} ${reading} ${sequenceNumber} ${addedSnapshotId} ${firstRowId} ${lengthBytes} ${path}`;
};

/** Stands for a partition spec as one table reads it: its fields, and the types of their values there. */
export const readingKey = (spec: PartitionSpec, types: readonly (IcebergType | undefined)[]): string =>
  digest([spec, types]);

const digest = (parts: readonly unknown[]): string => createHash('sha256').update(printJson(parts)).digest('base64url');

type Entry = { readonly value: unknown; readonly bytes: number };

/** Keeps the most recently used values, `bytesMax` together; 0 keeps none. A value larger than a quarter of it is not kept. */
export class LruManifestCache implements ManifestCache, ManifestCaches {
  readonly #entries: LRUCache<string, Entry>;
  readonly #loading = new Map<string, Promise<Entry>>();

  constructor(bytesMax: number) {
    this.#entries = new LRUCache({
      // The library takes 0 for "no limit".
      maxSize: Math.max(1, bytesMax),
      maxEntrySize: Math.max(1, Math.floor(bytesMax / 4)),
      sizeCalculation: ({ bytes }) => Math.max(1, Math.ceil(bytes)),
    });
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  of(tenant: string): ManifestCache {
    return {
      load: (key, make) => this.load(JSON.stringify([tenant, key]), make),
      peek: (key) => this.peek(JSON.stringify([tenant, key])),
    };
  }

  peek(key: string): unknown {
    return this.#entries.get(key)?.value;
  }

  async load<T>(key: string, make: () => Promise<{ readonly value: T; readonly bytes: number }>): Promise<T> {
    const entry = this.#entries.get(key) ?? (await (this.#loading.get(key) ?? this.#start(key, make)));
    return entry.value as T;
  }

  async #start(key: string, make: () => Promise<Entry>): Promise<Entry> {
    const loading = make();
    this.#loading.set(key, loading);
    try {
      const entry = await loading;
      this.#entries.set(key, entry);
      return entry;
    } finally {
      this.#loading.delete(key);
    }
  }
}
