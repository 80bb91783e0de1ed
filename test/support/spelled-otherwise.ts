import { parse } from 'libpg-query';
import type { Json, JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';

/** A relation in FROM; `place` is that of its name, a character of the text. */
type Relation = { readonly schema: string; readonly name: string; readonly alias: string; readonly place: number };

type Edit = { readonly start: number; readonly end: number; readonly text: string };

/** Ways to spell the names of a query that mean the same. */
export type Spelling =
  | 'unqualified'
  | 'qualified'
  | 'quoted'
  | 'capitals'
  | 'other aliases'
  | 'full names'
  | 'bare names'
  | 'wrapped';

/**
 * A query of Postgres' catalog with its names spelled otherwise: without `pg_catalog`, in quotes, in capitals, with other aliases, without aliases
 * so that columns are named by relation, or by schema and relation. Spellings that change nothing are left out.
 */
export async function spelledOtherwise(sql: string): Promise<ReadonlyMap<Spelling, string>> {
  const text = new Names(sql, await relationsIn(sql));
  const made: readonly (readonly [Spelling, string])[] = [
    ['unqualified', text.without('pg_catalog')],
    ['qualified', text.qualified()],
    ['quoted', text.quoted()],
    ['capitals', text.capitals()],
    [
      'other aliases',
      text.withAliases(
        (alias) => `"Zz ${alias}"`,
        (alias) => `"Zz ${alias}"`,
      ),
    ],
    [
      'full names',
      text.withAliases(
        () => '',
        (_alias, { schema, name }) => `${schema || 'pg_catalog'}.${name}`,
      ),
    ],
    [
      'bare names',
      text.withAliases(
        () => '',
        (_alias, { name }) => name,
      ),
    ],
    ['wrapped', /^\s*(?:select|with)\b/i.test(sql) ? `SELECT * FROM (${sql.replace(/;\s*$/, '')}\n) AS wrapped` : sql],
  ];
  return new Map(made.filter(([, spelled]) => spelled !== sql));
}

/** The relations that FROM names, by Postgres' parser; none of a text that it does not take. */
async function relationsIn(sql: string): Promise<readonly Relation[]> {
  const found: Relation[] = [];
  const bytes = Buffer.from(sql);
  const look = (value: Json | undefined): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      (value as readonly Json[]).forEach(look);
      return;
    }
    const of = value as JsonObject;
    if (of['RangeVar'] !== undefined) found.push(relationOf(of['RangeVar'] as JsonObject, bytes));
    Object.values(of).forEach(look);
  };
  look((await parse(sql).catch(() => null)) as unknown as Json);
  return found;
}

function relationOf(of: JsonObject, bytes: Buffer): Relation {
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  const alias = of['alias'] as JsonObject | undefined;
  return {
    schema: text(of['schemaname']),
    name: text(of['relname']),
    alias: text(alias?.['aliasname']),
    place: bytes.subarray(0, Number(of['location'] ?? 0)).toString().length,
  };
}

/** The tokens of a query, whose names are edited. */
class Names {
  readonly #sql: string;
  readonly #tokens: readonly Token[];
  readonly #relations: readonly Relation[];

  constructor(sql: string, relations: readonly Relation[]) {
    this.#sql = sql;
    this.#relations = relations;
    const reader = new Tokenizer(sql);
    const tokens: Token[] = [];
    for (let token = reader.next(); token.kind !== 'end'; token = reader.next()) tokens.push(token);
    this.#tokens = tokens;
  }

  #text(at: number): string {
    const token = this.#tokens[at];
    return token === undefined ? '' : this.#sql.slice(token.start, token.end);
  }

  #name = (at: number): string => foldIdentifier(this.#text(at).replaceAll('"', ''));

  without(schema: string): string {
    return this.#edited((token, at) => {
      const isOperator = foldIdentifier(this.#text(at - 2)) === 'operator';
      const isSchema = token.kind === 'word' && this.#name(at) === schema && this.#text(at + 1) === '.' && !isOperator;
      return isSchema ? [{ start: token.start, end: token.end + 1, text: '' }] : [];
    });
  }

  qualified(): string {
    const places = new Set(
      this.#relations.filter(({ schema, name }) => schema === '' && name.startsWith('pg_')).map(({ place }) => place),
    );
    return this.#edited(({ start }) => (places.has(start) ? [{ start, end: start, text: 'pg_catalog.' }] : []));
  }

  quoted(): string {
    return this.#edited(({ kind, start, end }, at) => {
      const isNamed = kind === 'word' && [this.#text(at - 1), this.#text(at + 1)].includes('.');
      return isNamed ? [{ start, end, text: `"${this.#name(at)}"` }] : [];
    });
  }

  capitals(): string {
    return this.#edited(({ kind, start, end }, at) =>
      kind === 'word' ? [{ start, end, text: this.#text(at).toLocaleUpperCase('en') }] : [],
    );
  }

  /** With other aliases for relations of the catalog that stand in the query once, and other names before their columns. */
  withAliases(alias: (own: string) => string, before: (own: string, relation: Relation) => string): string {
    const edits: Edit[] = [];
    for (const relation of this.#relations) {
      const place = this.#aliasOf(relation);
      if (place === undefined) continue;
      const { start, end } = place;
      edits.push({ start, end, text: alias(relation.alias) });
      for (const [at, token] of this.#tokens.entries()) {
        const isBefore = this.#name(at) === relation.alias && this.#text(at + 1) === '.' && this.#text(at - 1) !== '.';
        if (isBefore && token.start >= end) edits.push({ ...token, text: before(relation.alias, relation) });
        if (isBefore && token.end <= start) edits.push({ ...token, text: before(relation.alias, relation) });
      }
    }
    return this.#with(edits);
  }

  /** The range of a relation's alias, with AS; undefined where another relation has the alias or the name, too. */
  #aliasOf(relation: Relation): { readonly start: number; readonly end: number } | undefined {
    const { schema, name, alias, place } = relation;
    const isOfCatalog =
      ['pg_catalog', 'information_schema'].includes(schema) || (schema === '' && name.startsWith('pg_'));
    const isAlone = this.#relations.filter((one) => one.name === name || one.alias === alias).length === 1;
    if (alias === '' || !isOfCatalog || !isAlone) return undefined;
    const behind = this.#tokens.findIndex(({ start }) => start >= place) + (schema === '' ? 1 : 3);
    const at = foldIdentifier(this.#text(behind)) === 'as' ? behind + 1 : behind;
    const [first, last] = [this.#tokens[behind], this.#tokens[at]];
    if (first === undefined || last === undefined || this.#name(at) !== alias || this.#text(at + 1) === '(')
      return undefined;
    return { start: first.start, end: last.end };
  }

  #edited = (edit: (token: Token, at: number) => readonly Edit[]): string => this.#with(this.#tokens.flatMap(edit));

  #with(edits: readonly Edit[]): string {
    let text = '';
    let at = 0;
    for (const { start, end, text: instead } of edits.toSorted((a, b) => a.start - b.start)) {
      text += this.#sql.slice(at, start) + instead;
      at = end;
    }
    return text + this.#sql.slice(at);
  }
}
