import type { Json, JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';

/** Levels of a syntax tree, at most, in which repeated subqueries are looked for: each takes a part of the stack. A subquery has some ten. */
const LEVELS_MAX = 1_000;

/**
 * The tables of subqueries that an expression repeats, each with the table that stands in its place in the first one. Both become the same
 * scan, because DuckDB compares expressions by their texts, as in
 *
 *     SELECT (SELECT max(a) FROM s.t), count(*) FROM s.u GROUP BY (SELECT max(a) FROM s.t)
 *
 * @param node the syntax tree of the query
 * @param tables the table at each location; other names are those of WITH
 */
export function repeatedTables(node: JsonObject, tables: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
  if (tables.size < 2 || !hasTwoSubqueries(node)) return new Map();
  const finder = new RepetitionFinder(tables);
  finder.textOf(node);
  return finder.isTooDeep ? new Map() : finder.same;
}

/** Most queries have none, and their trees may be large. */
function hasTwoSubqueries(node: JsonObject): boolean {
  const nodes: Json[] = [node];
  let found = 0;
  for (let next = nodes.pop(); next !== undefined; next = nodes.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if ((next as JsonObject)['class'] === 'SUBQUERY' && ++found === 2) return true;
    for (const inner of Object.values(next)) if (typeof inner === 'object') nodes.push(inner);
  }
  return false;
}

/** The subquery of an expression: its names in the order of its text. Null = a name that WITH defines. */
type Subquery = { readonly id: number; readonly tables: readonly (number | null)[] };

class RepetitionFinder {
  readonly same = new Map<number, number>();
  isTooDeep = false;
  #levels = 0;
  readonly #tables: ReadonlyMap<number, number>;
  /** By their texts, in which the subqueries within them are numbers. */
  readonly #known = new Map<string, Subquery>();
  #found: (number | null)[] = [];

  constructor(tables: ReadonlyMap<number, number>) {
    this.#tables = tables;
  }

  /** The text of a tree without the places in its text; names are equal in any case, and values are not. */
  textOf(value: Json | undefined): string {
    if (typeof value === 'string') return JSON.stringify(foldIdentifier(value));
    if (typeof value !== 'object' || value === null) return String(value);
    this.isTooDeep ||= this.#levels === LEVELS_MAX;
    if (this.isTooDeep) return '';
    this.#levels += 1;
    const text = this.#textWithin(value);
    this.#levels -= 1;
    return text;
  }

  #textWithin(value: readonly Json[] | JsonObject): string {
    if (Array.isArray(value)) return `[${(value as readonly Json[]).map((one) => this.textOf(one)).join()}]`;
    const node = value as JsonObject;
    if (node['is_null'] !== undefined)
      return JSON.stringify(node, (_key, of: unknown) => (typeof of === 'bigint' ? `${of}n` : of));
    if (node['type'] === 'BASE_TABLE') this.#found.push(this.#tableOf(node));
    return node['class'] === 'SUBQUERY' ? this.#subquery(node) : this.#members(node);
  }

  #tableOf({ query_location: location }: JsonObject): number | null {
    return (typeof location === 'number' ? this.#tables.get(location) : undefined) ?? null;
  }

  #members(node: JsonObject): string {
    const members = Object.entries(node).filter(([key]) => key !== 'query_location');
    return `{${members.map(([key, value]) => `${key}:${this.textOf(value)}`).join()}}`;
  }

  #subquery(node: JsonObject): string {
    const around = this.#found;
    this.#found = [];
    const { alias, ...rest } = node;
    const text = this.#members(rest);
    const tables = this.#found;
    this.#found = [...around, ...tables];
    const known = this.#known.get(text);
    if (known === undefined) this.#known.set(text, { id: this.#known.size, tables });
    else this.#repeat(tables, known.tables);
    return `${this.#known.get(text)?.id} ${this.textOf(alias)}`;
  }

  #repeat(tables: readonly (number | null)[], first: readonly (number | null)[]): void {
    // The same name may be one of WITH in one place, and a table's in the other.
    if (!tables.every((table, i) => (table === null) === (first[i] === null))) return;
    for (const [i, table] of tables.entries()) {
      const at = first[i] ?? null;
      if (table !== null && at !== null) this.same.set(table, this.same.get(at) ?? at);
    }
  }
}
