import { createReadStream } from 'node:fs';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import type { Flags } from '../command.ts';
import { EXIT, UsageError, type ExitCode } from '../exit-code.ts';
import { clientOptions } from './client-options.ts';
import { QueryClient } from './query-client.ts';
import { FORMATS, type Format } from './result-format.ts';
import { shell } from './shell.ts';
import { isStatement, splitStatements } from '#shared/sql/split-statements.ts';
import { OutputClosed, runStatement, type Output } from './statement-runner.ts';

/** Longest text without a semicolon. */
const STATEMENT_CHARS_MAX = 64 * 2 ** 20;

/**
 * `skein sql`: runs statements of `-e`, `-f` or standard input, or opens a shell on a terminal. Without a shell it stops at the first
 * statement that fails. Exit codes: 0 ok, 1 query error, 2 usage, 3 connection or token.
 */
export async function sqlCommand(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const output: Output = { stdout: process.stdout, stderr: process.stderr, progress: process.stderr.isTTY };
  const texts = flags.texts('execute');
  const file = flags.text('file');
  const interactive = texts.length === 0 && file === undefined && process.stdin.isTTY;
  const format = formatOf(flags.text('format'));
  const client = new QueryClient(clientOptions(loaded, flags));
  // Without a listener a closed pipe would end the process before the query is cancelled.
  process.stdout.on('error', () => undefined);
  try {
    if (interactive) return await shell(client, format, output);
    process.on('SIGINT', () => void client.cancel().catch(() => undefined));
    const pieces = file === undefined && texts.length > 0 ? texts.map(whole) : withFile(texts, file);
    return await runAll(pieces, (sql) => runStatement(client, sql, format, output));
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error;
    await client.cancel().catch(() => undefined);
    return EXIT.ok;
  } finally {
    client.close();
  }
}

/** Runs every statement of the pieces, each as soon as it is complete. */
async function runAll(
  pieces: Iterable<string> | AsyncIterable<string>,
  run: (sql: string) => Promise<ExitCode>,
): Promise<ExitCode> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length > STATEMENT_CHARS_MAX) throw new UsageError('a statement is too long');
    const split = splitStatements(text);
    text = split.rest;
    for (const sql of split.statements) {
      const code = await run(sql);
      if (code !== EXIT.ok) return code;
    }
  }
  return isStatement(text) ? run(text.trim()) : EXIT.ok;
}

/** Terminates a text, so that its last statement cannot continue in the next text. */
const whole = (text: string): string => `${text}\n;\n`;

/** Yields the texts of `-e`, then the file or standard input as it is read. */
async function* withFile(texts: readonly string[], file: string | undefined): AsyncIterable<string> {
  yield* texts.map(whole);
  const stream = file === undefined || file === '-' ? process.stdin : createReadStream(file);
  stream.setEncoding('utf8');
  try {
    // Pieces are cut at line ends only, so that `--`, `/*`, `$$` and `E'` are not split.
    let line = '';
    for await (const piece of stream as AsyncIterable<string>) {
      line += piece;
      const end = line.lastIndexOf('\n') + 1;
      if (end > 0) yield line.slice(0, end);
      line = line.slice(end);
    }
    yield line;
  } catch (error) {
    throw new UsageError(
      `cannot read ${file ?? 'standard input'}: ${(error as NodeJS.ErrnoException).code ?? 'error'}`,
    );
  }
}

function formatOf(text: string | undefined): Format {
  if (text === undefined) return process.stdout.isTTY ? 'table' : 'csv';
  const format = FORMATS.find((known) => known === text);
  if (format === undefined) throw new UsageError(`--format ${text}: expected one of ${FORMATS.join(', ')}`);
  return format;
}
