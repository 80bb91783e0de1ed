import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { EngineAnswer } from '#test/slt/engine.ts';
import type { PlainAnswer, PlainRequest } from './plain-duckdb-process.ts';

/** An error of DuckDB's own after which the instance answers nothing any more. */
const BROKEN = /^(?:INTERNAL|FATAL) Error/;
const PROCESS_FILE = join(import.meta.dirname, 'plain-duckdb-process.ts');

export const DUCKDB_CRASHED = 'DuckDB ended its process';

type Question = { readonly sql: string; readonly schema: string; readonly rowsMax: number };

/**
 * A DuckDB in memory, filled by the statements of `setup`. It runs in a process of its own, because some statements crash it. After a crash
 * or an internal error a new one is filled. Statements run one after another.
 */
export class PlainDuckdb implements AsyncDisposable {
  readonly #setup: readonly string[];
  #process: ChildProcess;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(setup: readonly string[], started: ChildProcess) {
    this.#setup = setup;
    this.#process = started;
  }

  static async open(setup: readonly string[]): Promise<PlainDuckdb> {
    return new PlainDuckdb(setup, await startProcess(setup));
  }

  /**
   * Runs a statement; returns at least `rowsMax` rows if there are as many, up to the end of a chunk. A statement that takes longer than
   * some seconds is an error.
   */
  ask(sql: string, { schema = 'memory.main', rowsMax = Number.MAX_SAFE_INTEGER } = {}): Promise<EngineAnswer> {
    const answer = this.#last.then(() => this.#ask({ sql, schema, rowsMax }));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #ask(question: Question): Promise<EngineAnswer> {
    const answer = (await request(this.#process, { kind: 'ask', ...question })) ?? crashed;
    if (answer.kind === 'error' && (answer === crashed || BROKEN.test(answer.message))) {
      await stop(this.#process);
      this.#process = await startProcess(this.#setup);
    }
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    await stop(this.#process);
  }
}

const crashed: EngineAnswer = { kind: 'error', sqlState: null, message: DUCKDB_CRASHED };

async function startProcess(setup: readonly string[]): Promise<ChildProcess> {
  const started = fork(PROCESS_FILE, {
    serialization: 'advanced',
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const answer = (await request(started, { kind: 'setup', statements: setup })) ?? crashed;
  if (answer.kind === 'error') throw new Error(`plain DuckDB is not set up: ${answer.message}`);
  return started;
}

/** The answer; undefined when the process ended instead. */
async function request(to: ChildProcess, message: PlainRequest): Promise<PlainAnswer | undefined> {
  if (!to.connected) return undefined;
  const ended = new AbortController();
  const options = { signal: ended.signal };
  try {
    const answer = once(to, 'message', options).then(([value]) => value as PlainAnswer);
    const exit = once(to, 'exit', options).then(() => undefined);
    to.send(message);
    const first = Promise.race([answer, exit]);
    return await first;
  } finally {
    ended.abort();
  }
}

async function stop(running: ChildProcess): Promise<void> {
  if (running.exitCode !== null || running.signalCode !== null) return;
  const exit = once(running, 'exit');
  running.kill('SIGKILL');
  await exit;
}
