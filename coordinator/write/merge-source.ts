import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { WriteTarget } from '../operation/writes.ts';
import type { Merge } from '../operation/row-write.ts';
import type { AsProven } from '../statement/proven.ts';
import type { SplicedText } from '../statement/spliced-text.ts';
import { identifierText, Tokenizer } from '#shared/sql/tokenizer.ts';

/** Names that nobody writes: the sign of a row of the source, and the table of one row that gives it. */
const IS_SOURCE = '"skein source"';
const MARK = '"skein mark"';

/** The source of a MERGE in FROM. */
type SourceText = {
  /** The name by which columns refer to it. */
  readonly qualifier: string;
  /** True in a row of the source, and NULL in one that has none. */
  readonly isThere: string;
  readonly print: (text: SplicedText) => void;
};

/**
 * Prints the source so that each of its rows has a sign. The sign is a column of a subquery, of which columns know the alias alone; where
 * the statement names columns with the source's schema, or target and source have the same name, the sign stands beside the table:
 * ```
 * (SELECT *, true AS "skein source" FROM s) AS s          (s CROSS JOIN (SELECT true AS "skein source") AS "skein mark")
 * ```
 */
export function sourceText({ source, alias, rest }: Merge<AsProven>, { name }: Pick<WriteTarget, 'name'>): SourceText {
  const own = source.kind === 'table' ? (source.parts.at(-1) ?? '') : '';
  const isShared = alias === null && foldIdentifier(own) === foldIdentifier(name.table);
  if (source.kind === 'table' && source.alias === null && (isShared || isQualified(rest.text, own))) {
    return {
      qualifier: source.parts.map(quoteIdentifier).join('.'),
      isThere: `${MARK}.${IS_SOURCE}`,
      print: (text) => {
        text.insert('(').splice(source.table).insert(` CROSS JOIN (SELECT true AS ${IS_SOURCE}) AS ${MARK})`);
      },
    };
  }
  const qualifier = quoteIdentifier(source.alias ?? own);
  const columns = source.kind === 'query' ? source.columns.map((column) => quoteIdentifier(column.name)) : [];
  return {
    qualifier,
    isThere: `${qualifier}.${IS_SOURCE}`,
    print: (text) => {
      text.insert(`(SELECT *, true AS ${IS_SOURCE} FROM `);
      if (source.kind === 'table') text.splice(source.table).insert(` AS ${qualifier}`);
      else text.insert('(').splice(source.query).insert(`) AS ${qualifier}`);
      text.insert(`${columns.length === 0 ? '' : `(${columns.join(', ')})`}) AS ${qualifier}`);
    },
  };
}

/** Whether a text has a name of columns with the schema of a table: `schema.table.column`. */
function isQualified(text: string, table: string): boolean {
  const tokens = new Tokenizer(text);
  const wanted = foldIdentifier(table);
  let before = '';
  let isFound = false;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const symbol = token.kind === 'symbol' ? text.slice(token.start, token.end) : '';
    if (isFound && symbol === '.') return true;
    const isName = token.kind === 'word' || token.kind === 'quoted';
    isFound = isName && before === '.' && foldIdentifier(identifierText(text, token)) === wanted;
    before = symbol;
  }
  return false;
}
