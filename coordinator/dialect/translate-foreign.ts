import { must } from '#shared/must.ts';
import { acceptGrammar } from './accept-grammar.ts';
import { dialectOf, untranslated, type Dialect } from './dialect.ts';
import { translateQuery } from './translate-query.ts';

/** Characters of a query that is translated. */
const TEXT_MAX = 16 * 1024;

/**
 * Writes a query of another engine in our dialect. A grammar takes the square of the text's length, and a second for the longest, so this
 * runs in a planner process, which has a deadline and a limit of memory, and asks the grammar last.
 * @throws NOT_SUPPORTED
 */
export function translateForeign(sql: string, name: Dialect['name']): string {
  const dialect = must(dialectOf(name), 'a dialect that is translated');
  if (sql.length > TEXT_MAX) throw untranslated(dialect, `a text of more than ${TEXT_MAX} characters`);
  const translated = translateQuery(sql, dialect);
  acceptGrammar(sql, dialect);
  return translated;
}
