import { SkeinError } from '#shared/error.ts';
import { requireAction } from '../auth/authenticate.ts';
import type { Pages } from '../catalog-client/pages.ts';
import type { Command } from '../command/command.ts';
import type { CommandContext } from '../operation/command-context.ts';
import { COMMANDS } from '../command/commands.ts';
import type { StatementRows } from '../binding/table-source.ts';
import { encodeRows, rowsBudget, type TakeBytes } from '../binding/encode-rows.ts';
import type { RowsBinding, StagedBinding } from '../binding/statement-binding.ts';
import { NO_POLICIES } from '../binding/table-policies.ts';
import type { KeptRows } from '../binding/kept-rows.ts';
import { isStageText, openFileTable } from '../copy/open-file-table.ts';
import type { MadeRow } from '../binding/made-columns.ts';
import { parseCommand } from '../prepare/parse-statement.ts';
import type { TextSpan } from '../statement/statement.ts';

/** Longest title, in characters, of rows. */
const TITLE_MAX = 60;

/**
 * Runs the statements that one statement reads like tables (`FROM (SHOW TABLES)`), and finds the files of stages (`FROM @stage`). Each is
 * run, or listed, once, however often it is read, and the rows of statements take at most `bytesMax` together. `context` is called when the first of them runs.
 */
export function statementRows(bytesMax: number, context: () => CommandContext): StatementRows {
  const known = new Map<string, Promise<RowsBinding | StagedBinding>>();
  const take = rowsBudget(bytesMax);
  const kept: KeptRows = { keep: (name, binding) => known.set(name, Promise.resolve(binding)), take };
  const stagedTable = async (text: TextSpan): Promise<StagedBinding> => {
    const table = await openFileTable(text, context(), kept);
    return { kind: 'staged', table, policies: NO_POLICIES };
  };
  return {
    kept,
    rows: (text) => {
      const found = known.get(text.text) ?? (isStageText(text) ? stagedTable(text) : run(text, context(), take));
      known.set(text.text, found);
      return found;
    },
  };
}

async function run(statement: TextSpan, context: CommandContext, take: TakeBytes): Promise<RowsBinding> {
  const { command: name, input } = parseCommand(statement);
  const command: Command = COMMANDS[name];
  const title = titleOf(statement.text);
  if (command.rows === undefined) {
    throw new SkeinError('NOT_SUPPORTED', `${title} is not served in FROM`, { position: statement.offset });
  }
  const action = command.action(input);
  if (action !== null) requireAction(context.caller, action);
  try {
    const { columns, pages } = await command.rows(input, context);
    const rows = await encodeRows({ title, columns }, untilStopped(pages, context), take);
    return { kind: 'rows', rows, policies: NO_POLICIES };
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    if (error.entry.kind !== 'user' || error.position !== undefined) throw error;
    throw error.at(statement.offset);
  }
}

const titleOf = (text: string): string => {
  const words = text.trim();
  return words.length > TITLE_MAX ? `${words.slice(0, TITLE_MAX)}...` : words;
};

async function* untilStopped(pages: Pages<MadeRow>, { signal }: CommandContext): Pages<MadeRow> {
  for await (const rows of pages) {
    signal.throwIfAborted();
    yield rows;
  }
}
