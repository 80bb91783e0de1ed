import type { Command } from './command.ts';

/** A statement that does nothing but give rows, as its result or as a table. */
export const rowsCommand = <Input>(
  command: Omit<Command<Input>, 'run'> & Required<Pick<Command<Input>, 'rows'>>,
): Command<Input> => ({
  ...command,
  run: async (input, context) => context.answerPages(await command.rows(input, context)),
});
