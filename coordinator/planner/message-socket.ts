import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';

/** Bytes of the length that precedes a message. */
const HEAD_BYTES = 4;
/** Longest message. Statements and plans have lower limits of their own. */
const MESSAGE_BYTES_MAX = 256 * 2 ** 20;

/**
 * Sends structured-clone values over a socket, each as its length and its serialised bytes, so a long text is copied but neither escaped
 * nor parsed. A message longer than `MESSAGE_BYTES_MAX` ends the connection.
 */
export class MessageSocket<Sent> {
  readonly #socket: Socket;
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  /** @param receive called with each message, and never after the socket was destroyed */
  constructor(socket: Socket, receive: (message: unknown) => void) {
    this.#socket = socket;
    socket.on('data', (part: Buffer) => {
      this.#parts.push(part);
      this.#bytes += part.length;
      for (let body = this.#take(); body !== undefined; body = this.#take()) receive(deserialize(body));
    });
  }

  send(message: Sent): void {
    const body = serialize(message);
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(body.length);
    this.#socket.cork();
    this.#socket.write(head);
    this.#socket.write(body);
    this.#socket.uncork();
  }

  /** The body of the next message, once all of it has come. */
  #take(): Buffer | undefined {
    if (this.#bytes < HEAD_BYTES || this.#socket.destroyed) return undefined;
    const length = this.#join(HEAD_BYTES).readUInt32LE();
    if (length > MESSAGE_BYTES_MAX) {
      this.#socket.destroy();
      return undefined;
    }
    const whole = HEAD_BYTES + length;
    if (this.#bytes < whole) return undefined;
    const all = this.#join(whole);
    this.#parts[0] = all.subarray(whole);
    this.#bytes -= whole;
    return all.subarray(HEAD_BYTES, whole);
  }

  /** Returns the first part, joined with the next ones until it has `bytes`: parts are copied once for the head and once for the body. */
  #join(bytes: number): Buffer {
    const [first = Buffer.alloc(0)] = this.#parts;
    if (first.length >= bytes) return first;
    const all = Buffer.concat(this.#parts);
    this.#parts.length = 0;
    this.#parts.push(all);
    return all;
  }
}
