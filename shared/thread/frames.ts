import { setImmediate } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';

/**
 * A long list that is sent between threads in portions, each in a buffer of its own. A list that is sent as one value is deserialized in
 * one go, which blocks the receiver for all of that time.
 */
export type Frames<T> = { readonly buffers: readonly Uint8Array[]; readonly of?: T };

/** Maximum items and approximate bytes of one frame: deserializing it takes a few milliseconds. */
const FRAME_ITEMS = 1_000;
const FRAME_BYTES = 2 ** 20;

/** Serializes items as they are added. */
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

  /** @param bytes approximate size of the item */
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

/** Yields the items in order, with a turn of the event loop between two frames. */
export async function* readFrames<T>({ buffers }: Frames<T>): AsyncGenerator<readonly T[], void> {
  for (const buffer of buffers) {
    yield deserialize(buffer) as readonly T[];
    await setImmediate();
  }
}
