import type { ServerWritableStream } from '@grpc/grpc-js';

export type TicketMessage = { readonly ticket: Uint8Array };
/** A call of DoGet; it is given messages that are encoded already. */
export type FlightCall = ServerWritableStream<TicketMessage, Uint8Array>;

/** Bytes of messages that are given to gRPC and not yet on their way: the transport is kept busy, and memory small. */
const WINDOW_BYTES = 4 * 2 ** 20;

/** Counts what gRPC has been given and has not sent. */
export class SendWindow {
  #bytes = 0;
  #changed: (() => void) | undefined;

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

  /** Resolves when more may be given, or the reader is gone. */
  async room(call: { readonly cancelled: boolean }): Promise<void> {
    while (this.#bytes >= WINDOW_BYTES && !call.cancelled) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }
}
