import { quoteLiteral } from '#shared/sql/quote.ts';
import { parseJson, printJson, type Json, type JsonObject } from '#shared/json.ts';

/** Values in a JSON text that another one is searched for; each is a condition of its own. */
const VALUES_MAX = 100;

/** Numbers of so few digits are compared exactly. */
const EXACT = /^-?\d{1,15}$|^-?(?=[\d.]{1,15}$)\d+\.\d+$/;

/** A text that is no JSON, or has too much of it to be searched for. */
class NotSearched extends Error {}

/**
 * The condition, of Postgres, under which a value of JSON contains the one that a text is: `value @> 'text'`. Members and elements of the text are found in
 * the value at the same level, in any order and number.
 * @param value SQL that may stand there several times
 * @returns undefined for a text that is no JSON, or is not searched for
 */
export function containsText(value: string, text: string): string | undefined {
  try {
    const wanted = parseJson(text);
    let [count, names] = [0, 0];
    const counted = (): void => {
      count += 1;
      if (count > VALUES_MAX) throw new NotSearched();
    };
    const elementOf = (list: string, one: Json): string => {
      const name = `_e${(names += 1)}`;
      return `len(list_filter(json_extract(${list}, '$[*]'), lambda ${name}: ${contains(name, one)})) > 0`;
    };
    const contains = (where: string, one: Json): string => {
      counted();
      if (Array.isArray(one)) {
        return all(
          `json_type(${where}) = 'ARRAY'`,
          (one as readonly Json[]).map((item) => elementOf(where, item)),
        );
      }
      if (!isObject(one)) return isScalar(where, one);
      const members = Object.entries(one).map(([key, item]) => {
        const pointer = quoteLiteral(`/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
        return contains(`json_extract(${where}, ${pointer})`, item ?? null);
      });
      return all(`json_type(${where}) = 'OBJECT'`, members);
    };
    const found = contains(value, wanted);
    const isContainer = Array.isArray(wanted) || isObject(wanted);
    // A scalar alone is found among the elements of a list, too.
    const condition = isContainer
      ? found
      : `(${found} OR (json_type(${value}) = 'ARRAY' AND ${elementOf(value, wanted)}))`;
    return `CASE WHEN ${value} IS NOT NULL THEN ${condition} END`;
  } catch (error) {
    if (error instanceof NotSearched || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A condition that is false where a value is not there. */
const all = (first: string, others: readonly string[]): string =>
  `(coalesce(${[first, ...others].join(' AND ')}, false))`;

function isScalar(where: string, one: Json): string {
  const text = `json_extract_string(${where}, '$')`;
  if (one === null) return all(`json_type(${where}) = 'NULL'`, []);
  if (typeof one === 'boolean') return all(`json_type(${where}) = 'BOOLEAN'`, [`${text} = '${String(one)}'`]);
  if (typeof one === 'string') return all(`json_type(${where}) = 'VARCHAR'`, [`${text} = ${quoteLiteral(one)}`]);
  const digits = printJson(one);
  if (!EXACT.test(digits)) throw new NotSearched();
  return all(`json_type(${where}) IN ('BIGINT', 'UBIGINT', 'HUGEINT', 'UHUGEINT', 'DOUBLE')`, [
    `TRY_CAST(${text} AS DOUBLE) = CAST(${digits} AS DOUBLE)`,
  ]);
}
