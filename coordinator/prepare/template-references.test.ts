import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseJson } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { viewFilters } from '../binding/schema-views.ts';
import type { QueryReferences } from '../binding/query-references.ts';
import { findReferences } from '../resolver/find-references.ts';
import { queryTemplate } from './query-template.ts';
import { referencesInTemplate, referencesInText } from './template-references.ts';

let duckdb: DuckDBConnection;
beforeAll(async () => {
  duckdb = await (await DuckDBInstance.create()).connect();
});
afterAll(() => duckdb.closeSync());

async function referencesOf(sql: string): Promise<QueryReferences> {
  const reader = await duckdb.runAndReadAll(`SELECT json_serialize_sql(${quoteLiteral(sql)})`);
  const tree = parseJson(String(reader.getRows()[0]?.[0]));
  return findReferences(tree, { catalog: 'lake', schema: 's' }) as QueryReferences;
}
const filtersOf = ({ tables }: QueryReferences): readonly unknown[] =>
  tables.map(({ wanted = {} }) => viewFilters(wanted));

const [T, C] = ['information_schema.tables', 'information_schema.columns'];

test.each<[string, readonly string[], readonly string[]]>([
  [`SELECT * FROM ${T} WHERE table_schema = $1 AND table_name = $2`, ["'a'", "'b'"], ["'longer'", "''"]],
  [`SELECT a.table_name FROM ${T} AS a WHERE a.table_catalog = $1 ORDER BY 1`, ["'x'"], ["'lake'"]],
  // Both must hold: which values are left is another matter for each text.
  [`FROM ${T} WHERE table_name = $1 AND table_name = $2`, ["'a'", "'a'"], ["'a'", "'b'"]],
  // The catalogs of one view are those of the other; constants of an IN list belong to the template.
  [
    `SELECT 1 FROM ${T} t JOIN ${C} c USING (table_catalog) WHERE t.table_name IN ('k', 'l') AND t.table_catalog = $1 AND ordinal_position > $2`,
    ["'one'", '3'],
    ["'another'", '12'],
  ],
  [
    `SELECT (SELECT count(*) FROM ${C} c WHERE c.table_schema = $1) FROM ${T} WHERE table_schema = $2`,
    ["'a'", "'b'"],
    ["'bb'", "'aaa'"],
  ],
])('references of %s are those of any text with its template', async (text, first, second) => {
  const withValues = (values: readonly string[]): string =>
    text.replaceAll(/\$(\d)/g, (_, n: string) => must(values[Number(n) - 1], 'a value'));
  const [one, other] = [withValues(first), withValues(second)];
  const [ofOne, ofOther] = [must(queryTemplate(one), 'it has one'), must(queryTemplate(other), 'it has one')];
  expect(ofOther.key).toBe(ofOne.key);
  expect(ofOne.literals).toHaveLength(first.length);
  const kept = referencesInTemplate(await referencesOf(one), ofOne.literals);
  const right = await referencesOf(other);
  expect(referencesInText(kept, ofOther.literals)).toEqual(right);
  expect(filtersOf(referencesInText(kept, ofOther.literals))).toEqual(filtersOf(right));
  expect(filtersOf(right)).not.toEqual(filtersOf(await referencesOf(one)));
});
