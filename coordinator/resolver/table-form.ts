import { SkeinError } from '#shared/error.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { isInformationSchema } from '../binding/schema-views.ts';
import { identifierText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';

/**
 * Refuses `TABLE(INFORMATION_SCHEMA.POLICY_REFERENCES(...))`, which the parser does not know, with what to write instead.
 * @param toStatement maps a character of `sql` to one of the statement
 * @throws NOT_SUPPORTED
 */
export function refuseTableForm(sql: string, toStatement: (character: number) => number): void {
  if (!/information_schema/i.test(sql)) return;
  const tokens = new Tokenizer(sql);
  const last: Token[] = [];
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    last.push(token);
    if (last.length > FORM_TOKENS) last.shift();
    const [table, bracket, schema] = last;
    if (table === undefined || bracket === undefined || schema === undefined) continue;
    const textOf = ({ start, end }: Token): string => sql.slice(start, end);
    const isForm = table.kind === 'word' && foldKeyword(textOf(table)) === 'TABLE' && textOf(bracket) === '(';
    if (!isForm || (schema.kind !== 'word' && schema.kind !== 'quoted')) continue;
    if (!isInformationSchema(identifierText(sql, schema))) continue;
    throw new SkeinError(
      'NOT_SUPPORTED',
      'the views of INFORMATION_SCHEMA are read without TABLE(...): filter them with WHERE',
      {
        position: toStatement(table.start),
      },
    );
  }
}

/** TABLE, a bracket, and the name of the schema. */
const FORM_TOKENS = 3;
