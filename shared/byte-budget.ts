/**
 * Memory that the owners of a process share. An owner has half of it at most, so that what one tenant asks for does not take what the others
 * need.
 */
export class ByteBudget {
  readonly #bytesMax: number;
  readonly #used = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What one owner may have. */
  get bytesMaxOfOwner(): number {
    return Math.floor(this.#bytesMax / 2);
  }

  /** Whether there was so much for the owner; then it is taken, and the caller gives it back. */
  take(owner: string, bytes: number): boolean {
    const used = (this.#used.get(owner) ?? 0) + bytes;
    if (used > this.bytesMaxOfOwner || this.#bytes + bytes > this.#bytesMax) return false;
    this.#change(owner, bytes);
    return true;
  }

  give(owner: string, bytes: number): void {
    this.#change(owner, -bytes);
  }

  #change(owner: string, bytes: number): void {
    this.#bytes += bytes;
    const used = (this.#used.get(owner) ?? 0) + bytes;
    if (used === 0) this.#used.delete(owner);
    else this.#used.set(owner, used);
  }
}
