/** Bytes that gRPC may hold unsent: enough to keep the transport busy, little enough to bound memory. */
const WINDOW_BYTES = 4 * 2 ** 20;

/** Counts the bytes that gRPC has been given and has not sent. */
export class SendWindow {
  readonly #stopped: () => boolean;
  #bytes = 0;
  #changed: (() => void) | undefined;

  /** `stopped` tells whether sending has ended; whoever changes that must call `wake`. */
  constructor(stopped: () => boolean) {
    this.#stopped = stopped;
  }

  open(bytes: number): void {
    this.#bytes += bytes;
  }

  close(bytes: number): void {
    this.#bytes -= bytes;
    this.wake();
  }

  wake(): void {
    this.#changed?.();
  }

  /** Resolves when the window has room, or sending has stopped. */
  room(): Promise<void> {
    return this.#below(WINDOW_BYTES);
  }

  /** Resolves when everything has been sent, or sending has stopped. */
  sent(): Promise<void> {
    return this.#below(1);
  }

  async #below(bytes: number): Promise<void> {
    while (this.#bytes >= bytes && !this.#stopped()) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }
}
