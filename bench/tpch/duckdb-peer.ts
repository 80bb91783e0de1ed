import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { PeerAnswer } from './duckdb-process.ts';

/** Plain DuckDB in a process of its own. */
export class DuckDbPeer implements Disposable {
  readonly #process: ChildProcess;

  /** @param loads whether it loads extensions of its own */
  constructor({ loads = false }: { readonly loads?: boolean } = {}) {
    const path = join(import.meta.dirname, 'duckdb-process.ts');
    this.#process = fork(path, loads ? ['--unsigned'] : [], { stdio: 'inherit' });
  }

  /** @throws Error with DuckDB's message */
  async ask(sql: string): Promise<PeerAnswer> {
    const reply = once(this.#process, 'message');
    this.#process.send({ sql });
    const [answer] = (await reply) as [PeerAnswer];
    if (answer.error !== undefined) throw new Error(`DuckDB: ${answer.error}`);
    return answer;
  }

  [Symbol.dispose](): void {
    this.#process.kill();
  }
}
