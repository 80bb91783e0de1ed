import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import type { TextSpan } from '../statement/statement.ts';
import { textResult } from './answer.ts';
import type { Command, ExplainFormat, ExplainOptions } from './command.ts';
import { startsQuery } from './query-words.ts';

type Explain = ExplainOptions & { readonly analyze: boolean; readonly query: TextSpan };

/** `EXPLAIN [ANALYZE] [(TYPE LOGICAL | DISTRIBUTED, FORMAT TEXT | JSON, ANALYZE)] query` */
export const explain: Command<Explain> = {
  words: ['EXPLAIN'],
  queryType: 'explain',
  timeout: 'session',
  parse(reader) {
    reader.word();
    let analyze = reader.takeWord('ANALYZE');
    let format: ExplainFormat = 'text';
    let type: ExplainOptions['type'] = 'logical';
    if (reader.peekSymbol('(') && OPTIONS.has(reader.peekWord(1))) {
      reader.takeSymbol('(');
      do {
        const option = reader.word();
        if (option === 'ANALYZE') analyze = true;
        else if (option === 'FORMAT') format = explainFormat(reader);
        else if (option === 'TYPE') type = explainType(reader);
        else throw reader.error('SYNTAX_ERROR', `EXPLAIN has no option ${option}`);
      } while (reader.takeSymbol(','));
      if (!reader.takeSymbol(')')) throw reader.expected("')'");
    }
    if (reader.peekWord() === 'EXECUTE') {
      throw reader.error('NOT_SUPPORTED', 'EXPLAIN EXECUTE is not served; prepare the EXPLAIN');
    }
    if (!startsQuery(reader) && reader.peekWord() !== 'TABLE') return reader.refuse(reader.peekWord());
    return { analyze, type, format, query: reader.rest() };
  },
  action: () => 'table.select',
  async describe({ query }, { queries }) {
    const { parameters } = await queries.describe(query);
    return { parameters, columns: planResult([]).columns };
  },
  async run({ analyze, query, format, type }, { queries, answer }) {
    if (!analyze) return answer(planResult(await queries.explain(query, { type, format })));
    const { lines, bytesScanned, fragments } = await queries.explainAnalyze(query, format);
    return { ...(await answer(planResult(lines))), bytesScanned, fragments };
  },
};

const OPTIONS = new Set(['ANALYZE', 'FORMAT', 'TYPE']);

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
