import { FORMATS, type Format } from './result-format.ts';

/** A command of the shell that is not SQL. */
export type ShellCommand =
  | { readonly kind: 'quit' }
  | { readonly kind: 'format'; readonly format: Format }
  | { readonly kind: 'run'; readonly sql: string }
  | { readonly kind: 'say'; readonly text: string };

const HELP = `Statements end with a semicolon. Ctrl-C cancels the one that runs, or clears the line; Ctrl-D ends the shell.
  \\format ${FORMATS.join('|')}   how results are printed
  \\d [TABLE]                       the tables of the schema; the columns of one
  \\l                               the catalogs
  \\help                            this text
  \\quit                            ends the shell
A dot may stand for the backslash, and .mode, .tables, .schema and .databases do what they do in DuckDB's shell.
`;

/** DuckDB's shell names for these formats. */
const MODES: ReadonlyMap<string, Format> = new Map([
  ['duckbox', 'table'],
  ['box', 'table'],
  ['jsonlines', 'ndjson'],
]);

/**
 * Parses a line that begins with a backslash or a dot, or is a single word such as `quit` or `help`. Returns undefined when the line
 * belongs to a statement; no statement begins like a command.
 */
export function shellCommand(line: string): ShellCommand | undefined {
  const text = line.trim().replace(/;$/, '');
  const word = text.trim().toLowerCase();
  if (word === 'exit' || word === 'quit') return { kind: 'quit' };
  if (word === 'help') return { kind: 'say', text: HELP };
  if (!/^[\\.][a-z?]/i.test(text)) return undefined;
  const [name = '', argument = ''] = text.slice(1).split(/\s+/);
  switch (name.toLowerCase()) {
    case 'q':
    case 'quit':
    case 'exit':
      return { kind: 'quit' };
    case '?':
    case 'help':
      return { kind: 'say', text: HELP };
    case 'format':
    case 'mode': {
      const format = FORMATS.find((known) => known === argument) ?? MODES.get(argument);
      if (format === undefined) return { kind: 'say', text: `expected one of: ${FORMATS.join(', ')}\n` };
      return { kind: 'format', format };
    }
    case 'd':
    case 'dt':
    case 'tables':
    case 'schema':
      return { kind: 'run', sql: argument === '' ? 'SHOW TABLES' : `DESCRIBE ${argument}` };
    case 'l':
    case 'databases':
      return { kind: 'run', sql: 'SHOW CATALOGS' };
    default:
      return { kind: 'say', text: `unknown command ${text.charAt(0)}${name}; \\help lists them\n` };
  }
}
