import { memoryUses } from '../memory-uses.ts';
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { printJson } from '#shared/json.ts';
import type { ManifestFile } from './manifest.ts';
import type { PartitionSpec } from './partition-spec.ts';
import type { Snapshot, TableMetadata } from './table-metadata.ts';
import type { IcebergType } from './type.ts';

/**
 * A cache of parsed manifests and manifest lists. A key identifies everything that determines the parsed value: the file, the table that
 * refers to it with the roots that it may read, and the values that are inherited from its reference. A path alone is not enough: two
 * tables, or two lists of one table, may refer to one file with different sequence numbers, row ids or partition fields. The caller has
 * checked that the file lies under those roots.
 */
export interface ManifestCache {
  /** Returns the value of `key`; concurrent calls make it only once. `bytes` is its approximate memory. */
  load<T>(key: string, make: () => Promise<{ readonly value: T; readonly bytes: number }>): Promise<T>;
  /** Returns the value of `key` if it is cached. The caller names its type, which the key determines. */
  peek(key: string): unknown;
}

/** One cache for all tenants, in which each tenant sees only the entries of its own tables. */
export interface ManifestCaches {
  of(tenant: string): ManifestCache;
}

/** Returns the part of a key that identifies the table. */
export const tableKey = (
  { tableUuid, formatVersion, location }: Pick<TableMetadata, 'tableUuid' | 'formatVersion' | 'location'>,
  allowedRoots: readonly string[],
): string => digest([tableUuid, formatVersion, location, allowedRoots]);

/** Returns the key of a snapshot's manifest list. */
export const manifestListKey = (table: string, { snapshotId, sequenceNumber, manifestList }: Snapshot): string =>
  `list ${table} ${snapshotId} ${sequenceNumber} ${manifestList}`;

/** Returns the key of a manifest. @param reading identifies the partition fields that it is read with, and their types: `readingKey` */
export const manifestKey = (table: string, manifest: ManifestFile, reading: string): string => {
  const { path, lengthBytes, content, sequenceNumber, addedSnapshotId, firstRowId } = manifest;
  return `${content} ${table} ${reading} ${sequenceNumber} ${addedSnapshotId} ${firstRowId} ${lengthBytes} ${path}`;
};

/** Identifies a partition spec as a table reads it: its fields, and the types of their values in that table. */
export const readingKey = (spec: PartitionSpec, types: readonly (IcebergType | undefined)[]): string =>
  digest([spec, types]);

const digest = (parts: readonly unknown[]): string => createHash('sha256').update(printJson(parts)).digest('base64url');

type Entry = { readonly value: unknown; readonly bytes: number };

/** Keeps the most recently used values, up to `bytesMax` in total; 0 keeps none. A value larger than a quarter of it is not kept. */
export class LruManifestCache implements ManifestCache, ManifestCaches {
  readonly #entries: LRUCache<string, Entry>;
  readonly #loading = new Map<string, Promise<Entry>>();
  readonly #uses = memoryUses('manifests');

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
    const entry = this.#uses.of(this.#entries.get(key)) ?? (await (this.#loading.get(key) ?? this.#start(key, make)));
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
