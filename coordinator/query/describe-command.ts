import type { Command } from '../command/command.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { AnswerForm, Description } from '../operation/description.ts';

/** Says what a statement answers, and the types of its parameters as far as they are known. @throws what the statement is refused for */
export async function describeCommand<Input>(
  command: Command<Input>,
  input: Input,
  context: CommandContext,
): Promise<{ readonly form: AnswerForm; readonly parameters: Description['parameters'] }> {
  const inner = command.queryIn?.(input) ?? null;
  const parameters = inner === null ? NONE : (await context.queries.describe(inner)).parameters;
  if (command.answers !== undefined) {
    const form = command.answers(input);
    if (form !== null) return { form, parameters };
  }
  if (command.formOf !== undefined) return { form: command.formOf(input, context), parameters };
  if (command.describe !== undefined) {
    const { kind, columns, parameters: own } = await command.describe(input, context);
    return { form: kind === 'count' ? { kind } : { kind: 'rows', columns }, parameters: own };
  }
  // The pages are made when they are asked for.
  if (command.rows !== undefined) {
    const { columns } = await command.rows(input, context);
    return { form: { kind: 'rows', columns }, parameters };
  }
  return { form: { kind: 'nothing' }, parameters };
}

const NONE: Description['parameters'] = new Map();
