import { PAGE_ROWS_MAX, type PrincipalAnswer, type PrincipalRequest } from '#shared/principal/principal-request.ts';
import type { Pages } from '../../catalog-client/pages.ts';
import { statusResult, type PagedAnswer } from '../../operation/answer.ts';
import { madeColumn, type MadeColumn, type MadeRow } from '../../binding/made-columns.ts';
import { madeValue } from '#shared/made-type.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import type { Command } from '../command.ts';
import { rowsCommand } from '../rows-command.ts';

type Definition = {
  readonly words: readonly string[];
  readonly parse: (reader: StatementReader) => PrincipalRequest;
};

/**
 * A statement that changes principals. The catalog decides who may run it, in the transaction of the change. Its answer may show a secret,
 * once.
 */
export const principalCommand = ({ words, parse }: Definition): Command<PrincipalRequest> => ({
  words,
  queryType: 'ddl',
  timeout: 'session',
  parse,
  action: () => null,
  // The catalog says which columns, when it has run: a status, or a secret that is shown once.
  answers: () => ({ kind: 'rows', columns: null }),
  async run(input, context) {
    context.beginCommit();
    const answer = await context.catalog.runPrincipalStatement(context.caller.claims, input);
    // No rows: whoever has changed his own password has no token any more, with which he could fetch them.
    const status = statusOf(answer);
    if (status !== undefined) return context.answer(statusResult(status));
    return context.answer({ columns: columnsOf(answer), rows: typedRows(answer.rows, columnsOf(answer)) });
  },
});

/** A statement that lists principals, or what belongs to them. */
export const principalRows = ({ words, parse }: Definition): Command<PrincipalRequest> =>
  rowsCommand<PrincipalRequest>({
    words,
    queryType: 'show',
    timeout: 'session',
    parse,
    action: () => null,
    rows: (input, context) => rowsOf(input, context),
  });

/** The status of a statement that has nothing else to say; undefined when it shows something. */
function statusOf({ columns, rows }: PrincipalAnswer): string | undefined {
  const [name, ...others] = columns;
  return name === 'status' && others.length === 0 ? (rows[0]?.[0] ?? undefined) : undefined;
}

/** The first page tells the columns. */
async function rowsOf(input: PrincipalRequest, { catalog, caller }: CommandContext): Promise<PagedAnswer> {
  const ask = (request: PrincipalRequest): Promise<PrincipalAnswer> =>
    catalog.runPrincipalStatement(caller.claims, request);
  const first = await ask(input);
  return { columns: columnsOf(first), pages: pagesFrom(first, input, ask) };
}

async function* pagesFrom(
  first: PrincipalAnswer,
  input: PrincipalRequest,
  ask: (request: PrincipalRequest) => Promise<PrincipalAnswer>,
): Pages<MadeRow> {
  let left = 'limit' in input ? rowsWanted(input) : Number.POSITIVE_INFINITY;
  for (let page = first; ;) {
    const rows = page.rows.slice(0, left);
    yield typedRows(rows, columnsOf(first));
    left -= rows.length;
    if (page.next === null || left <= 0 || !('after' in input)) return;
    page = await ask({ ...input, after: page.next });
  }
}

const columnsOf = ({ columns, types }: PrincipalAnswer): readonly MadeColumn[] =>
  columns.map((name, i) => madeColumn(name, types?.[i] ?? 'VARCHAR'));

const typedRows = (rows: PrincipalAnswer['rows'], columns: readonly MadeColumn[]): readonly MadeRow[] =>
  rows.map((row) =>
    columns.map(({ typeName }, i) => {
      const text = row[i] ?? null;
      return text === null ? null : madeValue(typeName, text);
    }),
  );

/** A list without LIMIT asks for whole pages, until there is none. */
const rowsWanted = ({ limit }: { readonly limit: number }): number =>
  limit === PAGE_ROWS_MAX ? Number.POSITIVE_INFINITY : limit;

/** The page that a list without LIMIT begins with. */
export const FROM_THE_START = { after: null, limit: PAGE_ROWS_MAX } as const;
