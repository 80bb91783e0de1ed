import type { ServerWritableStream } from '@grpc/grpc-js';
import type { LentMessage } from './arrow-message.ts';

export type TicketMessage = { readonly ticket: Uint8Array };
/** A call of DoGet; it is given messages that are encoded already. */
export type FlightCall = ServerWritableStream<TicketMessage, Uint8Array | LentMessage>;

/** Bytes of messages that are given to gRPC and not yet on their way: the transport is kept busy, and memory small. */
const WINDOW_BYTES = 4 * 2 ** 20;

/** Counts what gRPC has been given and has not sent. */
export class SendWindow {
  readonly #stopped: () => boolean;
  #bytes = 0;
  #changed: (() => void) | undefined;

  /** `stopped` says that nothing more will be sent; whoever makes it so calls `wake`. */
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

  /** Resolves when more may be given, or it has stopped. */
  room(): Promise<void> {
    return this.#below(WINDOW_BYTES);
  }

  /** Resolves when all has been sent, or it has stopped. */
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
