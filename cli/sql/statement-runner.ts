import { SkeinError } from '#shared/error.ts';
import { printCount } from '#shared/print-count.ts';
import { EXIT, exitCodeOf, type ExitCode } from '../exit-code.ts';
import { ConnectionError, QueryError, type QueryClient } from './query-client.ts';
import { resultWriter, type Format, type ResultWriter } from './result-format.ts';

/** Streams for results and messages. */
export type Output = {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Whether to show a statement's progress on standard error. */
  readonly progress: boolean;
};

/** Thrown when the reader of our output is gone (`| head`): not a failure, but the statement stops. */
export class OutputClosed extends Error {}

const PROGRESS_INTERVAL_MS = 200;
/** Statements that end sooner show no progress. */
const PROGRESS_DELAY_MS = 400;
const CLEAR_LINE = '\r\u001b[K';

/** Runs one statement and prints its result or its error. */
export async function runStatement(
  client: QueryClient,
  sql: string,
  format: Format,
  output: Output,
): Promise<ExitCode> {
  const progress = new Progress(output);
  let writer: ResultWriter | undefined;
  try {
    const tail = await client.run(sql, async (head, rows) => {
      writer ??= resultWriter(format, head);
      progress.add(rows.length);
      await write(output.stdout, writer.rows(rows), progress);
    });
    progress.stop();
    if (writer !== undefined) await write(output.stdout, writer.end(tail), progress);
    return EXIT.ok;
  } catch (error) {
    progress.stop();
    if (error instanceof OutputClosed) throw error;
    output.stderr.write(`${messageOf(error)}\n`);
    return codeOf(error);
  }
}

function messageOf(error: unknown): string {
  if (error instanceof QueryError) return `ERROR ${error.sqlState} ${error.code}: ${error.message}`;
  if (error instanceof ConnectionError) return `skein sql: ${error.message}`;
  const known = SkeinError.of(error);
  return `skein sql: ${known.code === 'INTERNAL_ERROR' ? String(error) : known.message}`;
}

const codeOf = (error: unknown): ExitCode => {
  if (error instanceof ConnectionError) return EXIT.noCluster;
  return error instanceof SkeinError ? exitCodeOf(error) : EXIT.failed;
};

async function write(stream: NodeJS.WritableStream, text: string, progress: Progress): Promise<void> {
  if (text === '') return;
  progress.hide();
  if (!stream.writable) throw new OutputClosed();
  if (stream.write(text)) return;
  await new Promise<void>((resolve, reject) => {
    const drained = (): void => settle(resolve);
    const closed = (): void => settle(() => reject(new OutputClosed()));
    const settle = (end: () => void): void => {
      stream.off('drain', drained).off('close', closed).off('error', closed);
      end();
    };
    stream.on('drain', drained).on('close', closed).on('error', closed);
  });
}

/** `12.3 s, 4,000 rows` on one line of a terminal, until the statement ends. */
class Progress {
  readonly #output: Output;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #start = performance.now();
  #rows = 0;
  #shown = false;

  constructor(output: Output) {
    this.#output = output;
    this.#timer = output.progress ? setInterval(() => this.#show(), PROGRESS_INTERVAL_MS) : undefined;
  }

  add(rows: number): void {
    this.#rows += rows;
  }

  hide(): void {
    if (this.#shown) this.#output.stderr.write(CLEAR_LINE);
    this.#shown = false;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.hide();
  }

  #show(): void {
    const elapsedMs = performance.now() - this.#start;
    if (elapsedMs < PROGRESS_DELAY_MS) return;
    const rows = printCount(this.#rows);
    this.#output.stderr.write(`${CLEAR_LINE}${(elapsedMs / 1000).toFixed(1)} s, ${rows} rows (Ctrl-C cancels)`);
    this.#shown = true;
  }
}
