import { memoryUses } from '#shared/memory-uses.ts';
import { LRUCache } from 'lru-cache';
import { manifestListKey, tableKey } from '#shared/iceberg/manifest-cache.ts';
import { isTooMuch, unifiedPartitions, type FileSums } from '#shared/iceberg/sum-files.ts';
import type { Snapshot } from '#shared/iceberg/table-metadata.ts';
import type { TableReader } from '#shared/iceberg/table-reader.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { FoundTable } from '../catalog-client/loaded-tables.ts';
import { inspectedFiles, printName } from './found-table.ts';

/** Approximate memory of sums without partitions, and of each of these beside its texts. */
const SUMS_BYTES = 2_000;
const PARTITION_BYTES = 200;
/** Memory of all sums that are kept: those of some hundred tables with many partitions. */
const KEPT_BYTES_MAX = 32 * 2 ** 20;

type Asked = { readonly caller: Caller; readonly snapshot: Snapshot; readonly signal: AbortSignal };

/**
 * The sums of snapshots' files, which never change. A key has the tenant, the table with the roots that it may read, and its partition fields:
 * what another table says of the same files is not taken for this one's.
 */
export class KeptSums {
  readonly #tables: Pick<TableReader, 'sums'>;
  readonly #bytesMax: number;
  readonly #kept = new LRUCache<string, FileSums>({
    maxSize: KEPT_BYTES_MAX,
    sizeCalculation: bytesOf,
  });
  readonly #uses = memoryUses('file_sums');

  /** @param bytesMax memory that the sums of one snapshot may take while they are made */
  constructor(tables: Pick<TableReader, 'sums'>, bytesMax: number) {
    this.#tables = tables;
    this.#bytesMax = bytesMax;
  }

  /** Null: not even a part of them could be read within the limits. @throws as `TableReader` does, but for TABLE_DATA_TOO_COMPLEX */
  async of(table: FoundTable, { caller, snapshot, signal }: Asked): Promise<FileSums | null> {
    const files = inspectedFiles(table, caller);
    const list = manifestListKey(tableKey(files.table, files.allowedRoots), snapshot);
    const { names } = unifiedPartitions(files.table);
    const key = JSON.stringify([files.tenant, list, snapshot.manifests, names]);
    const known = this.#uses.of(this.#kept.get(key));
    if (known !== undefined) return known;
    const request = { ...files, snapshotId: snapshot.snapshotId, bytesMax: this.#bytesMax };
    try {
      const sums = await this.#tables.sums(request, { tableName: printName(table), signal });
      if (sums.isWhole) this.#kept.set(key, sums);
      return sums;
    } catch (error) {
      // The thread was stopped from outside: by its time or its memory.
      if (isTooMuch(error)) return null;
      throw error;
    }
  }
}

function bytesOf({ partitions }: FileSums): number {
  let bytes = SUMS_BYTES;
  for (const { values } of partitions) {
    bytes += PARTITION_BYTES;
    for (const value of values) bytes += 2 * (value?.length ?? 0);
  }
  return bytes;
}
