import type { ServerResponse } from 'node:http';
import { SkeinError } from '#shared/error.ts';
import type { OutputColumn, ResultSink, ResultSummary } from '../../sink/result-sink.ts';

type Limits = { readonly holdbackBytes: number; readonly resultBytesMax: number };

const COMMA = 0x2c;

/**
 * The body `{columns, types, rows, row_count, elapsed_ms}` of POST /api/query. Its head is held back up to a limit, so that nearly
 * every error keeps its HTTP status; what is larger is streamed, and a later error breaks the connection, so that a cut body is never
 * valid JSON.
 */
export class JsonResult implements ResultSink {
  readonly #response: ServerResponse;
  readonly #limits: Limits;
  readonly #headers: Readonly<Record<string, string>>;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #totalBytes = 0;
  #isFirstRow = true;
  #committed = false;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>, limits: Limits) {
    this.#response = response;
    this.#headers = headers;
    this.#limits = limits;
  }

  get committed(): boolean {
    return this.#committed;
  }

  start(columns: readonly OutputColumn[]): void {
    const names = JSON.stringify(columns.map((column) => column.name));
    const types = JSON.stringify(columns.map((column) => column.typeName));
    const head = Buffer.from(`{"columns":${names},"types":${types},"rows":[`);
    this.#held = [head];
    this.#heldBytes = head.length;
    this.#totalBytes = head.length;
    this.#isFirstRow = true;
  }

  rows(bytes: Buffer): Promise<void> | undefined {
    if (bytes.length === 0) return undefined;
    const rows = this.#isFirstRow && bytes[0] === COMMA ? bytes.subarray(1) : bytes;
    this.#isFirstRow = false;
    this.#totalBytes += rows.length;
    if (this.#totalBytes > this.#limits.resultBytesMax) {
      throw new SkeinError('RESULT_TOO_LARGE', `the result is larger than ${this.#limits.resultBytesMax} bytes`);
    }
    if (!this.#committed) {
      this.#held.push(rows);
      this.#heldBytes += rows.length;
      if (this.#heldBytes <= this.#limits.holdbackBytes) return undefined;
      this.#committed = true;
      this.#response.writeHead(200, { ...this.#headers, 'content-type': 'application/json; charset=utf-8' });
      const head = Buffer.concat(this.#held);
      this.#held = [];
      return this.#write(head);
    }
    return this.#write(rows);
  }

  finish({ rowCount, elapsedMs }: ResultSummary): void {
    const tail = Buffer.from(`],"row_count":${rowCount},"elapsed_ms":${Math.round(elapsedMs)}}`);
    if (this.#committed) {
      this.#response.end(tail);
      return;
    }
    this.#committed = true;
    const body = Buffer.concat([...this.#held, tail]);
    this.#held = [];
    this.#response.writeHead(200, {
      ...this.#headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
    });
    this.#response.end(body);
  }

  #write(bytes: Buffer): Promise<void> | undefined {
    const response = this.#response;
    if (response.destroyed) throw new SkeinError('QUERY_CANCELLED', 'the client has disconnected');
    if (response.write(bytes)) return undefined;
    return new Promise((resolve, reject) => {
      const done = (): void => {
        response.off('drain', done).off('close', gone);
        resolve();
      };
      const gone = (): void => {
        response.off('drain', done).off('close', gone);
        reject(new SkeinError('QUERY_CANCELLED', 'the client has disconnected'));
      };
      response.on('drain', done).on('close', gone);
    });
  }
}
