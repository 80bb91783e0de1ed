import { connect, type Socket } from 'node:net';
import { must } from '#shared/must.ts';

export type HttpAnswer = { readonly status: number; readonly head: string; readonly body: Buffer };

type Waiting = { readonly resolve: (answer: HttpAnswer) => void; readonly reject: (error: Error) => void };

const LINE_END = '\r\n';
const HEAD_END = '\r\n\r\n';

/**
 * One keep-alive connection that sends one request at a time, with minimal CPU cost: on a machine with few cores a benchmark's client
 * competes with the server.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #head: string;
  #received: Buffer[] = [];
  /** Bytes of the answer that are still missing, as far as is known. */
  #missing = 0;
  #answer: (Omit<HttpAnswer, 'body'> & { readonly chunks: Buffer[] | undefined }) | undefined;
  #waiting: Waiting | undefined;

  constructor(url: string, token: string) {
    const { hostname, port } = new URL(url);
    this.#head = `host: ${hostname}:${port}\r\nauthorization: Bearer ${token}\r\n`;
    this.#socket = connect(Number(port), hostname).setNoDelay(true);
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')));
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** @param headers more lines of the head, each with its end */
  request(method: string, path: string, body?: string, headers = ''): Promise<HttpAnswer> {
    const payload =
      body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(`${method} ${path} HTTP/1.1\r\n${this.#head}${headers}${payload}\r\n${body ?? ''}`);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received.push(chunk);
    this.#missing -= chunk.length;
    if (this.#answer === undefined) this.#readHead();
    if (this.#answer === undefined || this.#missing > 0) return;
    const received = Buffer.concat(this.#received);
    const { status, head, chunks } = this.#answer;
    const body = chunks === undefined ? received : this.#joinChunks(received, chunks);
    if (body === undefined) return;
    const { resolve } = must(this.#waiting, 'an answer comes after a request');
    this.#waiting = undefined;
    this.#answer = undefined;
    this.#received = [];
    resolve({ status, head, body });
  }

  #readHead(): void {
    const received = Buffer.concat(this.#received);
    const end = received.indexOf(HEAD_END);
    if (end === -1) return;
    const head = received.subarray(0, end).toString('latin1');
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const rest = received.subarray(end + HEAD_END.length);
    const isChunked = /\r\ntransfer-encoding: chunked/i.test(head);
    this.#answer = { status: Number(head.slice(9, 12)), head, chunks: isChunked ? [] : undefined };
    this.#received = [rest];
    this.#missing = length - rest.length;
  }

  /** The body of a chunked answer; undefined while its end has not come, when at least `#missing` bytes must. */
  #joinChunks(received: Buffer, chunks: Buffer[]): Buffer | undefined {
    let at = 0;
    for (;;) {
      const line = received.indexOf(LINE_END, at);
      const bytes = line === -1 ? 0 : Number.parseInt(received.toString('latin1', at, line), 16);
      if (Number.isNaN(bytes)) throw new Error('an answer has a chunk without a size');
      const from = line + LINE_END.length;
      const end = from + bytes + LINE_END.length;
      this.#missing = line === -1 ? 1 : end - received.length;
      if (this.#missing > 0) {
        this.#received = [received.subarray(at)];
        return undefined;
      }
      if (bytes === 0) return Buffer.concat(chunks);
      chunks.push(received.subarray(from, from + bytes));
      at = end;
    }
  }
}
