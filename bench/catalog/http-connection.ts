import { connect, type Socket } from 'node:net';
import { must } from '#shared/must.ts';

export type HttpAnswer = { readonly status: number; readonly head: string; readonly body: Buffer };

type Waiting = { readonly resolve: (answer: HttpAnswer) => void; readonly reject: (error: Error) => void };

const HEAD_END = '\r\n\r\n';

/**
 * One keep-alive connection that sends one request at a time, with minimal CPU cost: on a machine with few cores a benchmark's client
 * competes with the server. Responses must have a content-length, or no body.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #head: string;
  #received: Buffer[] = [];
  #missing = 0;
  #answer: Omit<HttpAnswer, 'body'> | undefined;
  #waiting: Waiting | undefined;

  constructor(url: string, token: string) {
    const { hostname, port } = new URL(url);
    this.#head = `host: ${hostname}:${port}\r\nauthorization: Bearer ${token}\r\n`;
    this.#socket = connect(Number(port), hostname).setNoDelay(true);
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the catalog closed the connection')));
  }

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
    const answer = { ...this.#answer, body: Buffer.concat(this.#received) };
    const { resolve } = must(this.#waiting, 'an answer comes after a request');
    this.#waiting = undefined;
    this.#answer = undefined;
    this.#received = [];
    resolve(answer);
  }

  #readHead(): void {
    const received = Buffer.concat(this.#received);
    const end = received.indexOf(HEAD_END);
    if (end === -1) return;
    const head = received.subarray(0, end).toString('latin1');
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const rest = received.subarray(end + HEAD_END.length);
    this.#answer = { status: Number(head.slice(9, 12)), head };
    this.#received = [rest];
    this.#missing = length - rest.length;
  }
}
