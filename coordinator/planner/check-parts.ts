import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { LIST_SOURCE, type PartRefusal, type PartText } from './part-text.ts';
import { ByteOffsets } from '../resolver/byte-offsets.ts';
import { nameStatements } from '../resolver/name-statements.ts';
import { openParts, type Part, type PartKind } from '../statement/proven.ts';
import { Tokenizer } from '#shared/sql/tokenizer.ts';

/** Asks DuckDB's parser. */
type AskParser = (text: PartText) => Promise<PartRefusal | null>;

/** Texts around a part of a kind; expressions stand in one text, together. */
const AROUND: Readonly<Record<PartKind, readonly [before: string, after: string]>> = {
  expression: ['VALUES (', '\n)'],
  tables: ['SELECT NULL FROM ', '\nWHERE NULL'],
  list: ['SELECT ', `\nFROM ${quoteIdentifier(LIST_SOURCE)}`],
  query: ['', '\n'],
};
const BETWEEN = '\n), (';

/**
 * Has DuckDB's parser say of the parts of a statement that each is one thing of its kind. @throws SYNTAX_ERROR with the place in the
 * statement, what else the parser refuses
 */
export async function checkParts(parts: readonly Part[], ask: AskParser): Promise<void> {
  const open = openParts(parts);
  const expressions = open.filter(({ kind }) => kind === 'expression');
  const others = open.filter(({ kind }) => kind !== 'expression').map((part) => shownText('alone', [part]));
  const shown = [...(expressions.length === 0 ? [] : [shownText('expressions', expressions)]), ...others];
  for (const one of shown) {
    const refusal = await ask(one.text);
    if (refusal !== null) throw one.errorOf(refusal);
  }
}

type Shown = { readonly text: PartText; readonly errorOf: (refusal: PartRefusal) => SkeinError };

function shownText(as: 'expressions' | 'alone', parts: readonly Part[]): Shown {
  const { kind } = must(parts[0], 'a part');
  const [before, after] = AROUND[kind];
  const starts: number[] = [];
  let sql = before;
  for (const [i, { span }] of parts.entries()) {
    if (i > 0) sql += BETWEEN;
    starts.push(sql.length);
    sql += withColumns(span.text);
  }
  sql += after;
  // A part may have statements in brackets, stages and time travel in its subqueries.
  const { text: named } = nameStatements(sql);
  const text = named.text;
  const placeOf = (byte: number): { readonly position: number; readonly isInside: boolean } => {
    const at = named.toSource(new ByteOffsets(text).toCharacter(byte));
    const i = starts.findLastIndex((start) => start <= at);
    const { span } = must(parts[Math.max(i, 0)], 'a part for each start');
    const within = at - (starts[i] ?? at);
    return { position: span.offset + Math.min(within, span.text.length), isInside: within < span.text.length };
  };
  return {
    text: {
      kind: as === 'expressions' ? 'expressions' : (kind as Exclude<PartKind, 'expression'>),
      sql: text,
      count: parts.length,
    },
    errorOf({ error, part }) {
      const { code, message } = error;
      if (error.position === undefined) {
        return new SkeinError(code, message, { position: parts[part ?? 0]?.span.offset });
      }
      const { position, isInside } = placeOf(error.position);
      // The parser has come to our own text behind the part.
      const isCutShort = !isInside && code === 'SYNTAX_ERROR';
      return new SkeinError(code, isCutShort ? CUT_SHORT[kind] : message, { position });
    },
  };
}

/** Gives the columns `$1`, `$2` of a stage other names of the same length. Parameters have their values by now. */
function withColumns(text: string): string {
  if (!text.includes('$')) return text;
  const tokens = new Tokenizer(text);
  const pieces: string[] = [];
  let at = 0;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    if (token.kind !== 'parameter' || text[token.start] !== '$') continue;
    pieces.push(text.slice(at, token.start), 'c');
    at = token.start + 1;
  }
  return pieces.join('') + text.slice(at);
}

const CUT_SHORT: Readonly<Record<PartKind, string>> = {
  expression: 'the expression is not complete',
  tables: 'only tables stand here: they are not complete, or another clause follows',
  list: 'only a list of expressions stands here: it is not complete, or another clause follows',
  query: 'the query is not complete',
};
