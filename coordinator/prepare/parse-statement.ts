import { COMMANDS, type CommandName, type Statement } from '../command/commands.ts';
import { checkShape } from '../statement/check-shape.ts';
import { StatementReader } from '../statement/statement-reader.ts';
import type { StatementLimits, TextSpan } from '../statement/statement.ts';

/**
 * The gate: finds the command that a text begins with, and lets it read the rest.
 * @throws SYNTAX_ERROR with a position, NOT_SUPPORTED for SQL that is not served, PAYLOAD_TOO_LARGE, STATEMENT_TOO_COMPLEX.
 */
export function parseStatement(text: string, limits: StatementLimits): Statement {
  return parseCommand(checkShape(text, limits));
}

/** The same for a part of a statement whose shape was checked. @throws SYNTAX_ERROR with a position in the statement, NOT_SUPPORTED */
export function parseCommand(span: TextSpan): Statement {
  const reader = new StatementReader(span);
  const phrases = PHRASES.get(reader.peekWord()) ?? SYMBOLS;
  const command = phrases.find(({ phrase }) => reader.peekPhrase(phrase))?.command;
  if (command === undefined) return reader.refuse(reader.peekWord());
  const input = COMMANDS[command].parse(reader);
  reader.end();
  return { command, input } as Statement;
}

type Beginning = { readonly phrase: string; readonly command: CommandName };

const firstWord = ({ phrase }: Beginning): string => /^\w*/.exec(phrase)?.[0] ?? '';

/** How statements begin, by the first word, the longest first. */
const PHRASES: ReadonlyMap<string, readonly Beginning[]> = Map.groupBy(
  (Object.keys(COMMANDS) as CommandName[])
    .flatMap((command) => COMMANDS[command].words.map((phrase) => ({ phrase, command })))
    .toSorted((a, b) => b.phrase.split(' ').length - a.phrase.split(' ').length),
  firstWord,
);
/** The beginnings that are no words. */
const SYMBOLS = PHRASES.get('') ?? [];
