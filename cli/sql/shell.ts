import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { QueryClient } from './query-client.ts';
import type { Format } from './result-format.ts';
import { shellCommand } from './shell-command.ts';
import { isStatement, splitStatements } from '#shared/sql/split-statements.ts';
import { runStatement, type Output } from './statement-runner.ts';

const PROMPT = 'skein> ';
const CONTINUATION = '  ...> ';
const HISTORY_LINES_MAX = 1_000;
/** Longest text without a semicolon. */
const STATEMENT_CHARS_MAX = 64 * 2 ** 20;

/** The interactive shell. It ends with Ctrl-D or `\quit`, always with exit code 0: a statement's error does not end it. */
export async function shell(client: QueryClient, first: Format, output: Output): Promise<ExitCode> {
  const history = new History();
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    prompt: PROMPT,
    history: history.load(),
    historySize: HISTORY_LINES_MAX,
    removeHistoryDuplicates: true,
  });
  lines.on('history', (entries) => history.save(entries));
  let format = first;
  let text = '';
  let running = false;
  const prompt = (): void => {
    lines.setPrompt(isStatement(text) || text.trim() !== '' ? CONTINUATION : PROMPT);
    lines.prompt();
  };
  lines.on('SIGINT', () => {
    if (running) {
      client.cancel().catch(() => undefined);
      return;
    }
    text = '';
    output.stderr.write('\n');
    prompt();
  });
  prompt();
  for await (const line of lines) {
    const command = text.trim() === '' ? shellCommand(line) : undefined;
    if (command?.kind === 'quit') break;
    if (command?.kind === 'format') format = command.format;
    else if (command?.kind === 'say') output.stderr.write(command.text);
    else if (text.length + line.length > STATEMENT_CHARS_MAX) {
      text = '';
      output.stderr.write('the statement is too long\n');
    } else {
      const split = splitStatements(command === undefined ? `${text}${line}\n` : `${command.sql};`);
      text = split.rest;
      running = true;
      for (const sql of split.statements) {
        if ((await runStatement(client, sql, format, output)) !== EXIT.ok) break;
      }
      running = false;
    }
    prompt();
  }
  lines.close();
  process.stdout.write('\n');
  return EXIT.ok;
}

/** `~/.skein_history`: newest line first, readable by its owner only. If the folder is not writable, no history is kept. */
class History {
  readonly #path = join(homedir(), '.skein_history');

  load(): string[] {
    try {
      return readFileSync(this.#path, 'utf8').split('\n').filter(Boolean).slice(0, HISTORY_LINES_MAX);
    } catch {
      return [];
    }
  }

  save(lines: readonly string[]): void {
    try {
      // Lines that may hold a password or a key stay out of the file.
      const safe = lines.filter((line) => !/password|secret|token/i.test(line));
      writeFileSync(this.#path, `${safe.join('\n')}\n`, { mode: 0o600 });
    } catch {
      // No history then.
    }
  }
}
