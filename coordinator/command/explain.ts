import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import type { TextSpan } from '../statement/statement.ts';
import { textResult } from '../operation/answer.ts';
import type { ExplainFormat, ExplainOptions } from '../operation/explain-options.ts';
import type { Command } from './command.ts';
import { analyzeWrite, describeExplained, explainInput, takeWrite, type ExplainedWrite } from './explain-write.ts';
import { startsQuery } from './query-words.ts';

type Explain = ExplainOptions & { readonly analyze: boolean } & (
    | { readonly query: TextSpan }
    | { readonly write: ExplainedWrite }
  );

/**
 * `EXPLAIN [ANALYZE] [VERBOSE] [(TYPE LOGICAL | DISTRIBUTED, FORMAT TEXT | JSON, ANALYZE [boolean], ...)] query | write`. Options of Postgres that say
 * how much is shown are taken, and change nothing: all that is known is shown.
 */
export const explain: Command<Explain> = {
  words: ['EXPLAIN'],
  queryType: 'explain',
  timeout: 'session',
  parse(reader) {
    reader.word();
    let analyze = reader.takeWord('ANALYZE');
    reader.takeWord('VERBOSE');
    let format: ExplainFormat = 'text';
    let type: ExplainOptions['type'] = 'logical';
    if (reader.peekSymbol('(') && OPTIONS.has(reader.peekWord(1))) {
      reader.takeSymbol('(');
      do {
        const option = reader.word();
        if (option === 'ANALYZE') analyze = takeSwitch(reader);
        else if (SHOWN.has(option)) takeSwitch(reader);
        else if (option === 'FORMAT') format = explainFormat(reader);
        else if (option === 'TYPE') type = explainType(reader);
        else throw reader.error('SYNTAX_ERROR', `EXPLAIN has no option ${option}`);
      } while (reader.takeSymbol(','));
      if (!reader.takeSymbol(')')) throw reader.expected("')'");
    }
    if (reader.peekWord() === 'EXECUTE') {
      throw reader.error('NOT_SUPPORTED', 'EXPLAIN EXECUTE is not served; prepare the EXPLAIN');
    }
    const write = takeWrite(reader);
    if (write !== null) return { analyze, type, format, write };
    if (!startsQuery(reader) && reader.peekWord() !== 'TABLE') return reader.refuse(reader.peekWord());
    return { analyze, type, format, query: reader.takeRest() };
  },
  action: (input) => ('write' in input ? input.write.action : 'table.select'),
  async describe(input, context) {
    const { parameters } =
      'write' in input ? await describeExplained(input.write, context) : await context.queries.describe(input.query);
    return { parameters, columns: planResult([]).columns };
  },
  async run(input, context) {
    const { queries, answer } = context;
    const { analyze, type, format } = input;
    if ('write' in input) {
      if (!analyze) return answer(planResult(await explainInput(input.write, { type, format }, context)));
      const { lines, bytesScanned, fragments } = await analyzeWrite(input.write, format, context);
      return { ...(await answer(planResult(lines))), bytesScanned, fragments };
    }
    if (!analyze) return answer(planResult(await queries.explain(input.query, { type, format })));
    const { lines, bytesScanned, fragments } = await queries.explainAnalyze(input.query, format);
    return { ...(await answer(planResult(lines))), bytesScanned, fragments };
  },
};

/** How much Postgres shows. */
const SHOWN: ReadonlySet<string> = new Set([
  'VERBOSE',
  'COSTS',
  'BUFFERS',
  'TIMING',
  'SUMMARY',
  'SETTINGS',
  'WAL',
  'MEMORY',
]);
const OPTIONS: ReadonlySet<string> = new Set(['ANALYZE', 'FORMAT', 'TYPE', ...SHOWN]);

/** `ON`, `OFF`, `true`, `0`; nothing is ON. @throws SYNTAX_ERROR */
function takeSwitch(reader: StatementReader): boolean {
  if (reader.peekSymbol(',') || reader.peekSymbol(')')) return true;
  const value = foldIdentifier(reader.takeName() ?? reader.takeString() ?? reader.takeNumber() ?? '');
  if (['on', 'true', '1'].includes(value)) return true;
  if (['off', 'false', '0'].includes(value)) return false;
  throw reader.error('SYNTAX_ERROR', 'an option of EXPLAIN is ON or OFF');
}

function explainFormat(reader: StatementReader): ExplainFormat {
  const format = foldIdentifier(reader.takeName() ?? '');
  if (format === 'text' || format === 'json') return format;
  throw reader.error('NOT_SUPPORTED', 'EXPLAIN serves FORMAT TEXT and JSON');
}

function explainType(reader: StatementReader): ExplainOptions['type'] {
  const type = foldIdentifier(reader.takeName() ?? '');
  if (type === 'logical' || type === 'distributed') return type;
  throw reader.error('NOT_SUPPORTED', 'EXPLAIN serves TYPE LOGICAL and DISTRIBUTED');
}

const planResult = (lines: readonly string[]) =>
  textResult(
    ['plan'],
    lines.map((line) => [line]),
  );
