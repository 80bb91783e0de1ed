import { quoteIdentifier } from '#shared/sql/quote.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import { SkeinError } from '#shared/error.ts';
import { StatementReader } from '../statement/statement-reader.ts';

/** The setting of Postgres that names the schemas in which names are looked for: the first that exists is the current one. */
export const SEARCH_PATH = 'search_path';
/** The value beside it: the levels of that schema, or null. No setting that a client names has a space in it. */
const FOUND = `${SEARCH_PATH} schema`;
export const PATH_SETTINGS: readonly string[] = [SEARCH_PATH, FOUND];

const PLAIN = /^[a-z_][a-z0-9_$]*$/;
const [NAMES_MAX, LENGTH_MAX] = [100, 10_000];

/** Names as SHOW prints them: `a, "B"`. */
export const printPath = (names: readonly string[]): string =>
  names.map((name) => (PLAIN.test(name) ? name : quoteIdentifier(name))).join(', ');

/** The names of a list: `a, "B"`. @throws INVALID_REQUEST */
export function readPath(text: string): readonly string[] {
  if (text.trim() === '') return [];
  const wrong = (): SkeinError =>
    new SkeinError('INVALID_REQUEST', `${SEARCH_PATH} is a list of at most ${NAMES_MAX} schemas`);
  if (text.length > LENGTH_MAX) throw wrong();
  const names: string[] = [];
  const reader = new StatementReader({ text, offset: 0 });
  try {
    do {
      const name = reader.takeName() ?? reader.takeString();
      if (name === null) throw wrong();
      names.push(name);
    } while (reader.takeSymbol(','));
  } catch {
    throw wrong();
  }
  if (!reader.atEnd() || names.length > NAMES_MAX) throw wrong();
  return names;
}

/** The values of the settings for a path of which this schema is the first that exists. */
export const pathValues = (
  text: string,
  found: readonly string[] | null,
): readonly (readonly [name: string, value: string])[] => [
  [SEARCH_PATH, text],
  [FOUND, JSON.stringify(found)],
];

type Values = ReadonlyMap<string, string>;
type Place = {
  readonly schema: readonly string[] | null;
  readonly local: Values;
  readonly settings: Values;
  readonly initial: Values;
};

/** The current schema of a session: that of its path or of USE, whichever came last; null = the default. */
export function currentSchema({ schema, local, settings, initial }: Place): readonly string[] | null {
  const own = local.get(FOUND) ?? settings.get(FOUND);
  const value = own ?? (schema === null ? initial.get(FOUND) : undefined);
  return value === undefined ? schema : (JSON.parse(value) as readonly string[] | null);
}

/** The path as SHOW prints it; undefined = the default. */
export function shownPath({ schema, local, settings, initial }: Place): string | undefined {
  const own = local.get(SEARCH_PATH) ?? settings.get(SEARCH_PATH);
  return own ?? (schema === null ? initial.get(SEARCH_PATH) : printPath([schemaName(schema)]));
}
