import type { CopyInto, CopySelect } from '../../operation/copy-into.ts';
import { copyOptionsOf } from './copy-options.ts';
import { takeOptions } from '../../stage/take-options.ts';
import type { StageReference } from '../../stage/stage-reference.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import type { TextSpan } from '../../statement/statement.ts';
import { takeAlias } from '../clause/row-clauses.ts';
import { takeStage } from '../stage/take-stage.ts';
import { takeColumnNames } from '../clause/column-names.ts';

/**
 * `[catalog.][schema.]table [(column, ...)] FROM @stage[/path] | (SELECT expression, ... FROM @stage[/path] [[AS] alias])
 * [option = value ...]`
 */
export function takeCopy(reader: StatementReader): CopyInto {
  const table = reader.name('a table', 3);
  const rest = reader.rest();
  const columns = reader.peekSymbol('(') ? takeColumnNames(reader) : null;
  if (!reader.takeWord('FROM')) throw reader.expected('FROM');
  const { stage, select } = takeSource(reader);
  const options = copyOptionsOf(takeOptions(reader), select !== null);
  reader.end();
  return { table, columns, stage, select, options, rest };
}

function takeSource(reader: StatementReader): { readonly stage: StageReference; readonly select: CopySelect | null } {
  if (!reader.takeSymbol('(')) return { stage: takeStage(reader), select: null };
  if (!reader.takeWord('SELECT')) throw reader.expected('SELECT');
  if (reader.peekWord() === 'DISTINCT') throw oneForOne(reader);
  const expressions: TextSpan[] = [];
  do {
    if (expressions.length === EXPRESSIONS_MAX) {
      const message = `the SELECT of COPY INTO lists at most ${EXPRESSIONS_MAX} expressions`;
      throw reader.error('STATEMENT_TOO_COMPLEX', message);
    }
    expressions.push(takeExpression(reader));
  } while (reader.takeSymbol(','));
  if (!reader.takeWord('FROM')) throw reader.expected('FROM');
  const stage = takeStage(reader);
  if (CLAUSES.has(reader.peekWord()) || reader.peekSymbol(',')) throw oneForOne(reader);
  const alias = reader.peekSymbol(')') ? null : takeAlias(reader);
  if (!reader.takeSymbol(')')) throw oneForOne(reader);
  return { stage, select: { expressions, alias } };
}

/** Expressions of one load: a table gets one for each column, and the coordinator's main thread holds each. */
const EXPRESSIONS_MAX = 10_000;

/** An expression over one record; its name means nothing. */
function takeExpression(reader: StatementReader): TextSpan {
  if (reader.peekSymbol('*')) throw reader.error('NOT_SUPPORTED', 'the SELECT of COPY INTO names its columns');
  const expression = reader.expression('an expression', 'FROM', 'AS');
  if (reader.takeWord('AS') && reader.takeName() === null) throw reader.expected('a name');
  return expression;
}

/** Words that follow the stage in a query that is more than a list over it. */
const CLAUSES: ReadonlySet<string> = new Set(
  `WHERE GROUP HAVING WINDOW QUALIFY ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT USING TABLESAMPLE JOIN INNER LEFT
  RIGHT FULL CROSS NATURAL ASOF POSITIONAL SEMI ANTI`.split(/\s+/),
);

const oneForOne = (reader: StatementReader) =>
  reader.error(
    'NOT_SUPPORTED',
    'the SELECT of COPY INTO is a list of expressions over one stage: it gives a row for each record',
  );
