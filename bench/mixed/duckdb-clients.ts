import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { ServerAnswer, ServerRequest } from './duckdb-server.ts';

/** Clients of one plain DuckDB in a process of its own; each has a connection. */
export class DuckDbClients implements Disposable {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (answer: ServerAnswer) => void>();
  #last = 0;
  #ended: string | undefined;

  /** @param clientsMax queries that run at once */
  constructor(clientsMax: number) {
    // Each query that runs has a thread of libuv's pool.
    const env = { UV_THREADPOOL_SIZE: String(clientsMax) };
    this.#process = fork(join(import.meta.dirname, 'duckdb-server.ts'), { stdio: 'inherit', env });
    this.#process.on('message', (answer: ServerAnswer) => this.#waiting.get(answer.id)?.(answer));
    this.#process.once('exit', (code, signal) => {
      this.#ended = `the process has ended: ${signal ?? code}`;
      for (const [id, answer] of this.#waiting) answer({ id, error: this.#ended });
    });
  }

  /** @throws Error with DuckDB's message */
  async ask(client: number, sql: string): Promise<void> {
    this.#last += 1;
    const id = this.#last;
    if (this.#ended !== undefined) throw new Error(`DuckDB: ${this.#ended}`);
    const { error } = await new Promise<ServerAnswer>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#process.send({ id, client, sql } satisfies ServerRequest);
    });
    this.#waiting.delete(id);
    if (error !== undefined) throw new Error(`DuckDB: ${error}`);
  }

  [Symbol.dispose](): void {
    this.#ended = 'the process is ended';
    this.#process.kill();
  }
}
