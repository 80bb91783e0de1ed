import type { IncomingMessage, ServerResponse } from 'node:http';

export type StoreAnswer = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
};
/** An upload: the bytes that have come, and the answer to the last part. */
type Session = { bytes: number; made?: StoreAnswer };

/**
 * Resumable uploads of Google's JSON API, as far as fake-gcs-server does otherwise: a part that has come already is not taken twice, and the last
 * one is answered again. It would put the one behind itself, and knows nothing of an upload that is complete, or that was ended.
 */
export class ResumableUploads {
  readonly #sessions = new Map<string, Session>();

  /** Uploads that have parts, are no objects, and were not ended. */
  get open(): number {
    return [...this.#sessions.values()].filter(({ bytes, made }) => bytes > 0 && made === undefined).length;
  }

  /** Answers a request of an upload that fake-gcs-server need not see. @returns whether it was one */
  answer(url: URL, { method, headers }: IncomingMessage, answer: ServerResponse): boolean {
    const id = url.searchParams.get('upload_id') ?? '';
    const session = this.#sessions.get(id);
    if (session === undefined) return false;
    if (method === 'DELETE') {
      this.#sessions.delete(id);
      answer.writeHead(499, { 'content-length': 0 }).end();
      return true;
    }
    const { made, bytes } = session;
    if (made !== undefined) {
      answer.writeHead(made.status, made.headers).end(made.body);
      return true;
    }
    const [, first] = /^bytes (\d+)-/.exec(headers['content-range'] ?? '') ?? [];
    if (first === undefined || Number(first) >= bytes) return false;
    answer.writeHead(308, { range: `bytes=0-${bytes - 1}`, 'content-length': 0 }).end();
    return true;
  }

  /** Keeps what the store has answered. @param range of the bytes that were sent */
  note(url: URL, range: string, given: StoreAnswer): void {
    const { location } = given.headers;
    const begun = location === undefined ? null : new URL(location).searchParams.get('upload_id');
    if (begun !== null) this.#sessions.set(begun, { bytes: 0 });
    const session = this.#sessions.get(url.searchParams.get('upload_id') ?? '');
    if (session === undefined) return;
    const [, last] = /^bytes \d+-(\d+)\//.exec(range) ?? [];
    if (last !== undefined && given.status === 308) session.bytes = Number(last) + 1;
    if (given.status < 300) session.made = given;
  }
}
