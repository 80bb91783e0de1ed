import { memoryUses } from '#shared/memory-uses.ts';
import { LRUCache } from 'lru-cache';
import type { TableRows } from '../binding/table-rows.ts';
import type { RelationBlock } from '../catalog-client/relation-blocks.ts';

/** Bytes of all rows that are kept. */
const BYTES_MAX = 48 * 2 ** 20;
/** Memory of an entry without its messages, about. */
const ENTRY_BYTES = 1_000;

/** The rows of INFORMATION_SCHEMA that were made of parts of catalogs' lists: a list that changes in one place has its others encoded. */
export class EncodedBlocks {
  readonly #rows = new LRUCache<string, TableRows>({
    maxSize: BYTES_MAX,
    sizeCalculation: ({ bytes }) => ENTRY_BYTES + bytes,
  });
  readonly #numbers = new WeakMap<RelationBlock, number>();
  readonly #uses = memoryUses('encoded_lists');
  #last = 0;

  /** @param key the rows that are made of the block, among all that may be made of it */
  get(block: RelationBlock, key: string): TableRows | undefined {
    const number = this.#numbers.get(block);
    return this.#uses.of(number === undefined ? undefined : this.#rows.get(`${number} ${key}`));
  }

  keep(block: RelationBlock, key: string, rows: TableRows): void {
    const number = this.#numbers.get(block) ?? (this.#last += 1);
    this.#numbers.set(block, number);
    this.#rows.set(`${number} ${key}`, rows);
  }
}
