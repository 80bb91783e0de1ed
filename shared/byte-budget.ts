/** A memory budget that the owners (tenants) of a process share. One owner gets at most half of it, so that the others are not starved. */
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

  /** Maximum bytes of one owner. */
  get bytesMaxOfOwner(): number {
    return Math.floor(this.#bytesMax / 2);
  }

  /** Reserves bytes for an owner; false when they do not fit. The caller gives them back with `give`. */
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
