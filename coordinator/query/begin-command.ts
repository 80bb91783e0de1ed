import type { Command } from '../command/command.ts';
import { COMMANDS, type Statement } from '../command/commands.ts';
import { routedStatement } from './routed-statement.ts';
import type { RunningStatement } from './running-statement.ts';

/**
 * Tells a statement its type, and the group that the rules send it to; `statement` is null when its text was refused. Statements that run no
 * query (DDL, SHOW, SET) take no place in their group: they need no worker, and KILL QUERY, ROLLBACK or a SET that leads elsewhere must not
 * wait behind the queries that fill it. A query asks for its place once it is planned (`admit-query.ts`).
 */
export function beginCommand(running: RunningStatement, statement: Statement | null): void {
  const { services, active } = running;
  const command: Command | null = statement === null ? null : COMMANDS[statement.command];
  const queryType = command?.typeOf?.(statement?.input) ?? command?.queryType ?? 'unknown';
  active.begins(queryType, services.admission.route(routedStatement(running, queryType)));
}
