import type { Command } from '../command/command.ts';
import { COMMANDS, type Statement } from '../command/commands.ts';
import type { ActiveQuery } from './active-query.ts';

/** Tells a statement that was read its type, and whether it writes rows. */
export function beginCommand(active: ActiveQuery, { command: name, input }: Statement): void {
  const command: Command = COMMANDS[name];
  active.begins(command.typeOf?.(input) ?? command.queryType, command.writes?.(input));
}
