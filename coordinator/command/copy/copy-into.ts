import { SkeinError } from '#shared/error.ts';
import type { CopyInto } from '../../operation/copy-into.ts';
import { numberColumns } from '../../sink/made-rows.ts';
import type { Unload } from '../../operation/unload.ts';
import type { Command } from '../command.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import type { Outcome } from '../../operation/outcome.ts';
import { copyColumns } from '../../operation/copy-columns.ts';
import { takeCopy } from './take-copy.ts';
import { takeUnload } from './take-unload.ts';

const COLUMNS = ['rows_unloaded', 'input_bytes', 'output_bytes'] as const;

/** `COPY INTO table FROM @stage`, which loads files, and `COPY INTO @stage FROM table | (query)`, which unloads rows */
export const copyInto: Command<{ readonly copy: CopyInto } | { readonly unload: Unload }> = {
  words: ['COPY INTO'],
  tag: 'COPY',
  queryType: 'copy',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const stage = reader.takeReference();
    return stage === null ? { copy: takeCopy(reader) } : { unload: takeUnload(reader, stage) };
  },
  action: (input) => ('unload' in input ? 'stage.write' : 'table.commit'),
  async describe(input, { queries }) {
    if (!('unload' in input)) throw new SkeinError('NOT_SUPPORTED', 'COPY INTO a table cannot be prepared');
    const { parameters } = await queries.describe(input.unload.query);
    return { columns: numberColumns(COLUMNS), parameters };
  },
  answers: (input) => ('unload' in input ? null : { kind: 'rows', columns: copyColumns(input.copy.options) }),
  run: (input, context) => ('unload' in input ? unload(input.unload, context) : load(input.copy, context)),
};

async function load(input: CopyInto, context: CommandContext): Promise<Outcome> {
  const { answer, ...cost } = await context.writes.copy(input);
  const { rowsProduced } = answer === null ? cost : await context.answer(answer);
  return { ...cost, rowsProduced };
}

async function unload(input: Unload, context: CommandContext): Promise<Outcome> {
  const { rows, plainBytes, bytes, bytesScanned, fragments } = await context.unload(input);
  const [ofRows, ofInput, ofOutput] = COLUMNS;
  const numbers = { [ofRows]: rows, [ofInput]: plainBytes, [ofOutput]: bytes };
  return { ...(await context.answerNumbers(numbers)), bytesScanned, fragments };
}
