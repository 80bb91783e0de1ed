import { SkeinError } from '#shared/error.ts';
import { hasSecondName } from '../disk-cache/kept-objects.ts';
import type { ObjectCopy } from './object-copy.ts';

/** After each further share of the limit the copies are looked at again. */
const LOOKS = 16;

/**
 * Objects that a task has in use and that the cache has no room for. They count as what the task spills. Looking at each after each would be
 * much work, and what the cache keeps it may give up a moment later: so they are looked at when all together are more than the limit.
 */
export class HeldSpill {
  readonly #bytesMax: number;
  readonly #copies = new Map<ObjectCopy, number>();
  #total = 0;
  #lookAt: number;
  /** Bytes beyond what the cache keeps, as of the last look. */
  bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#lookAt = bytesMax;
  }

  /** A copy has come, or has more bytes. @throws SPILL_LIMIT */
  add(copy: ObjectCopy, tableName: string): void {
    this.#total += copy.bytes - (this.#copies.get(copy) ?? 0);
    this.#copies.set(copy, copy.bytes);
    if (this.#total <= this.#lookAt) return;
    this.#lookAt = this.#total + this.#bytesMax / LOOKS;
    // A file that the cache keeps has a second name there.
    this.bytes = this.#copies.keys().reduce((sum, { path, bytes }) => sum + (hasSecondName(path) ? 0 : bytes), 0);
    if (this.bytes <= this.#bytesMax) return;
    throw new SkeinError(
      'SPILL_LIMIT',
      `what a task needs of the objects of ${tableName} takes more than ${this.#bytesMax} bytes of the worker's disk (worker.spill_limit), and its cache has no room for it`,
    );
  }
}
