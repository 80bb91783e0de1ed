import { inspect } from 'node:util';
import { SingleBar } from 'cli-progress';
import type { SkeinError } from '#shared/error.ts';
import type { LoadResult } from './load-table.ts';

/** Reports a load: JSON lines or text on standard output, and a progress bar on standard error when that is a terminal. */
export class LoadOutput {
  readonly #stdout: NodeJS.WritableStream;
  readonly #stderr: NodeJS.WritableStream;
  readonly #json: boolean;
  readonly #bar: SingleBar | undefined;

  constructor(options: {
    readonly stdout: NodeJS.WritableStream;
    readonly stderr: NodeJS.WritableStream;
    readonly isTty: boolean;
    readonly json: boolean;
  }) {
    this.#stdout = options.stdout;
    this.#stderr = options.stderr;
    this.#json = options.json;
    if (options.isTty && !options.json) {
      const format = '{table} [{bar}] {percentage}% {eta_formatted}';
      this.#bar = new SingleBar({
        format,
        stream: options.stderr,
        hideCursor: true,
        clearOnComplete: true,
        etaBuffer: 50,
      });
    }
  }

  start(table: string): void {
    this.#bar?.start(1000, 0, { table });
  }

  progress(share: number): void {
    this.#bar?.update(Math.round(share * 1000));
  }

  /** Stops the progress bar and restores the cursor; also called after a failure. */
  stop(): void {
    this.#bar?.stop();
  }

  committed(table: string, result: LoadResult): void {
    const { rows, files } = result;
    const snapshot = String(result.snapshotId);
    if (this.#json) this.#print({ event: 'committed', table, snapshot_id: snapshot, rows, files });
    else this.#stdout.write(`${table}: ${rows} rows in ${files} files, snapshot ${snapshot}\n`);
  }

  failed(error: SkeinError): void {
    if (this.#json) this.#print({ event: 'failed', code: error.code, message: error.message });
    else this.#stderr.write(`skein load: ${error.message} (${error.code})\n`);
    if (error.code === 'INTERNAL_ERROR') this.#stderr.write(`${inspect(error.cause)}\n`);
  }

  usage(message: string, usage: string): void {
    this.#stderr.write(`skein load: ${message}\n${usage}`);
  }

  #print(event: object): void {
    this.#stdout.write(`${JSON.stringify(event)}\n`);
  }
}
