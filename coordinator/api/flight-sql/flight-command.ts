import { SkeinError } from '#shared/error.ts';
import { decodeMessage, unpackMessage, type SqlMessages } from './flight-messages.ts';

/** The commands that ask for metadata. */
export const METADATA_COMMANDS = [
  'CommandGetCatalogs',
  'CommandGetDbSchemas',
  'CommandGetTables',
  'CommandGetTableTypes',
  'CommandGetPrimaryKeys',
  'CommandGetExportedKeys',
  'CommandGetImportedKeys',
  'CommandGetCrossReference',
  'CommandGetSqlInfo',
  'CommandGetXdbcTypeInfo',
] as const satisfies readonly (keyof SqlMessages)[];

/** The commands that a descriptor or a ticket may hold. */
const COMMANDS = [
  'CommandStatementQuery',
  'CommandStatementUpdate',
  'CommandPreparedStatementQuery',
  'CommandPreparedStatementUpdate',
  'CommandStatementIngest',
  ...METADATA_COMMANDS,
  'TicketStatementQuery',
] as const satisfies readonly (keyof SqlMessages)[];

type CommandName = (typeof COMMANDS)[number];

/** A command with its fields; `kind` is the name of its message. */
export type FlightCommand = {
  [Name in CommandName]: { readonly kind: Name; readonly fields: SqlMessages[Name][1] };
}[CommandName];

const isCommand = (name: string): name is CommandName => COMMANDS.some((one) => one === name);

/** @throws INVALID_REQUEST, NOT_SUPPORTED */
export function readCommand(bytes: Uint8Array): FlightCommand {
  const { name, value } = unpackMessage(bytes);
  if (isCommand(name)) return { kind: name, fields: decodeMessage(name, value) } as FlightCommand;
  const what = name === '' ? 'a descriptor or ticket without a command' : name.slice(0, NAME_SHOWN);
  throw new SkeinError('NOT_SUPPORTED', `${what} is not served; it must be a command of Flight SQL`);
}

const NAME_SHOWN = 200;
