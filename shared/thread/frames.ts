import { setImmediate } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';

/**
 * A long list on its way between threads: in portions, each in a buffer of its own. A list that is sent as one value is unpacked as one,
 * and holds the receiver up for all of that time.
 */
export type Frames<T> = { readonly buffers: readonly Uint8Array[]; readonly of?: T };

/** Items of one frame, and their bytes, roughly: unpacking it takes a few milliseconds. */
const FRAME_ITEMS = 1_000;
const FRAME_BYTES = 2 ** 20;

/** Packs items as they come. */
export class FrameWriter<T> {
  readonly #check: (bytes: number) => void;
  readonly #buffers: Uint8Array[] = [];
  #items: T[] = [];
  #itemBytes = 0;
  #bytes = 0;

  /** @param check called with the bytes of all frames so far; throws when they are too many */
  constructor(check: (bytes: number) => void) {
    this.#check = check;
  }

  /** @param bytes of the item, roughly */
  add(item: T, bytes: number): void {
    this.#items.push(item);
    this.#itemBytes += bytes;
    if (this.#items.length >= FRAME_ITEMS || this.#itemBytes >= FRAME_BYTES) this.#flush();
  }

  finish(): Frames<T> {
    if (this.#items.length > 0) this.#flush();
    return { buffers: this.#buffers };
  }

  #flush(): void {
    const buffer = serialize(this.#items);
    this.#items = [];
    this.#itemBytes = 0;
    this.#bytes += buffer.length;
    this.#check(this.#bytes);
    this.#buffers.push(buffer);
  }
}

/** Gives the items back in order; others run between two frames. */
export async function* readFrames<T>({ buffers }: Frames<T>): AsyncGenerator<readonly T[], void> {
  for (const buffer of buffers) {
    yield deserialize(buffer) as readonly T[];
    await setImmediate();
  }
}
