import { NESTED_PARTS, STORED_TYPE_NAMES, storedValue, type StoredType } from './argument-types.ts';
import type { Choices } from './choices.ts';
import type { RandomTable } from './random-tables.ts';
import { fillCall, type ServedCall } from './served-calls.ts';

/** The columns that an expression may read, as SQL; `id` is the number of the row. */
export type Scope = {
  readonly id: string;
  readonly columns: readonly { readonly sql: string; readonly type: StoredType }[];
};

export const scopeOf = (table: RandomTable, alias: string): Scope => ({
  id: `${alias}.id`,
  columns: [
    { sql: `${alias}.id`, type: 'INTEGER' },
    ...table.columns.map(({ name, type }) => ({ sql: `${alias}.${name}`, type })),
  ],
});

/** The columns of a type, and the parts of that type in nested columns. */
const ownValues = (type: StoredType, { columns }: Scope): readonly string[] => [
  ...columns.filter((column) => column.type === type).map(({ sql }) => sql),
  ...(NESTED_PARTS[type] ?? []).flatMap(([nested, part]) =>
    columns.filter((column) => column.type === nested).map(({ sql }) => `${sql}${part}`),
  ),
];

/** A call that DuckDB answers over the table of functions; `text` has TRY around it when it fails at one of its rows. */
export type UsableCall = Pick<ServedCall, 'name' | 'signature' | 'text'>;
export type UsableCalls = Readonly<Record<'scalar' | 'aggregate' | 'window', readonly UsableCall[]>>;

/** Choices that make a statement likely to give rows, and the same rows each time. */
export type Form = {
  /** Tables are filtered. */
  readonly isFiltered: boolean;
  /** Calls of scalar functions stand in TRY, and aggregates are told the order of their rows. */
  readonly isGuarded: boolean;
  /**
   * Arguments are values with which the function is known to succeed, not random columns, some of which hold the limits of their types.
   */
  readonly isTypical: boolean;
};

const DEPTH_MAX = 2;
/** Rows of the table of functions. */
const TYPICAL_ROWS = 36;
/** Functions that return several rows, which TRY does not accept. */
const MANY_ROWS = /^(?:unnest|generate_subscripts|regexp_split_to_table)$/;

const PATTERNS = ["'a%'", "'%p_l%'", "'%an%a'", "'%'", "'_'", "''", "'%日%'", "'A%e'"] as const;
const EXPRESSIONS = [
  "'^[a-f]'",
  "'^[^a-z]'",
  "'(a|p)+le?$'",
  "'^(apple|Banana)$'",
  "'.*'",
  "'\\d+'",
  "'^.{2}$'",
  "'(?i)BANANA'",
] as const;
const GLOBS = ["'a*'", "'*[p-q]?e'", "'?'"] as const;
const COMPARISONS = ['=', '<', '>=', '<>', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM'] as const;
const NUMBERS = ["'nan'", "'infinity'", '0', '5', '-1e300'] as const;
const COLLATIONS = ['NOCASE', 'NOACCENT', 'NFC', 'NOCASE.NOACCENT', 'de'] as const;
/** Aggregates by a macro, which takes neither FILTER nor ORDER BY. */
const MACROS = /^"?(?:json_group_|geomean|geometric_mean|wavg|weighted_avg)/;
/** Aggregates whose result depends on the order of their rows, some only when two of them tie. */
const FIRST_COUNTS =
  /^"?(?:arg_?(?:min|max)|(?:min|max)_by|first|last|any_value|arbitrary|list|array_agg|string_agg|group_concat|listagg|mode|approx_quantile|approx_top_k|reservoir_quantile)/;
/** Types with a plain order, which may be keys. */
const KEY_TYPES: readonly StoredType[] = [
  'INTEGER',
  'VARCHAR',
  'DATE',
  'BIGINT',
  'DECIMAL(9,2)',
  'BOOLEAN',
  'TIMESTAMP',
  'UUID',
  'STRUCT(a INTEGER, b VARCHAR)',
  'INTEGER[]',
  'BLOB',
  'VARCHAR[]',
  'TIME',
  'TIMESTAMP WITH TIME ZONE',
  'DOUBLE',
  'MAP(VARCHAR, INTEGER)',
];
const CAST_TYPES = [
  'VARCHAR',
  'DOUBLE',
  'BIGINT',
  'DECIMAL(12,3)',
  'DATE',
  'TIMESTAMP',
  'BOOLEAN',
  'BLOB',
  'HUGEINT',
  'JSON',
  'INTEGER[]',
  'BIT',
  'INTERVAL',
  'STRUCT(a VARCHAR, b INTEGER)',
  'UUID',
  'TINYINT',
  'UNION(n INTEGER, t VARCHAR)',
  'VARIANT',
] as const;

/** Makes expressions from the drawn choices, and records the signatures that it calls. */
export class RandomExpressions {
  readonly #choices: Choices;
  readonly #calls: UsableCalls;
  readonly #form: Form;
  readonly signatures = new Set<string>();

  constructor(choices: Choices, calls: UsableCalls, form: Form) {
    this.#choices = choices;
    this.#calls = calls;
    this.#form = form;
  }

  /** Returns an expression of a stored type. */
  value(type: StoredType, scope: Scope, depth = 0): string {
    const own = ownValues(type, scope);
    const kind = this.#choices.below(depth >= DEPTH_MAX ? 3 : 6);
    if (this.#form.isTypical) return `(${storedValue(type, `(1 + ${scope.id} % ${TYPICAL_ROWS})`)})`;
    if (kind <= 1 && own.length > 0) return this.#choices.pick(own);
    if (kind <= 2) return `(${storedValue(type, scope.id)})`;
    if (kind === 3) return `TRY_CAST(CAST(${this.any(scope, depth + 1)} AS VARCHAR) AS ${type})`;
    if (kind === 4)
      return `CASE WHEN ${this.condition(scope, depth + 1)} THEN ${this.value(type, scope, depth + 1)} ELSE ${this.value(type, scope, depth + 1)} END`;
    return `coalesce(${this.value(type, scope, depth + 1)}, ${this.value(type, scope, depth + 1)})`;
  }

  /** Returns an expression of any type: a call of a function more often than not. */
  any(scope: Scope, depth = 0): string {
    switch (this.#choices.below(8)) {
      case 0:
        return this.#choices.pick(scope.columns).sql;
      case 1:
        return this.#row(scope, depth);
      case 2:
        return `TRY_CAST(${this.#choices.pick(scope.columns).sql}::VARCHAR AS ${this.#choices.pick(CAST_TYPES)})`;
      default:
        return this.call('scalar', scope, depth);
    }
  }

  /** A call of one of the functions that are served. */
  call(kind: keyof UsableCalls, scope: Scope, depth = 0): string {
    const call = this.#choices.pick(this.#calls[kind]);
    const text = fillCall(call.text, (type) => this.value(type, scope, depth + 1)) ?? 'NULL';
    this.signatures.add(call.signature);
    if (kind !== 'scalar') return text;
    return this.#form.isGuarded && !MANY_ROWS.test(call.name) ? `TRY(${text})` : `(${text})`;
  }

  key(scope: Scope): string {
    const found = scope.columns.filter(({ type }) => KEY_TYPES.includes(type));
    switch (this.#choices.below(6)) {
      case 0:
      case 1:
        return this.#choices.pick(found).sql;
      case 2:
        return `(${scope.id} % 5)`;
      case 3:
        return `(${this.value('VARCHAR', scope, DEPTH_MAX)} COLLATE ${this.#choices.pick(COLLATIONS)})`;
      case 4:
        return `row(${scope.id} % 3, ${this.#choices.pick(found).sql})`;
      default:
        return this.value(this.#choices.pick(KEY_TYPES), scope, 1);
    }
  }

  /** Returns a condition that most rows fulfil, so that there are rows to compare. */
  condition(scope: Scope, depth = 0): string {
    const negated = this.#choices.pick(['', 'NOT ']);
    const text = this.value('VARCHAR', scope, DEPTH_MAX);
    switch (this.#choices.below(11)) {
      case 0:
        return `(${scope.id} % 4 <> 1)`;
      case 1:
        return `${negated}(${this.#choices.pick(scope.columns).sql} IS NULL)`;
      case 2:
        return `(${text} ${negated}${this.#choices.pick(['LIKE', 'ILIKE'])} ${this.#choices.pick(PATTERNS)})`;
      case 3:
        return `${negated}(${text} ~ ${this.#choices.pick(EXPRESSIONS)})`;
      case 4:
        return `${negated}${this.#choices.pick(['regexp_matches', 'regexp_full_match'])}(${text}, ${this.#choices.pick(EXPRESSIONS)})`;
      case 5:
        return this.#choices.chance(2)
          ? `${negated}(${text} SIMILAR TO ${this.#choices.pick(EXPRESSIONS)})`
          : `${negated}(${text} GLOB ${this.#choices.pick(GLOBS)})`;
      case 6: {
        const type = this.#choices.pick(STORED_TYPE_NAMES);
        return `(${this.value(type, scope, depth + 1)} ${this.#choices.pick(COMPARISONS)} ${this.value(type, scope, depth + 1)})`;
      }
      case 7: {
        const type = this.#choices.pick(['INTEGER', 'VARCHAR', 'DATE', 'DECIMAL(9,2)'] as const);
        const constants = [0, 3, 4].map((n) => storedValue(type, String(n))).join(', ');
        return `(${this.value(type, scope, DEPTH_MAX)} ${negated}IN (${constants}))`;
      }
      case 8: {
        // Statistics of files prune by a comparison with a constant.
        const type = this.#choices.pick(['DOUBLE', 'FLOAT', 'INTEGER', 'DOUBLE', 'VARCHAR'] as const);
        const constant = this.#choices.pick(type === 'DOUBLE' || type === 'FLOAT' ? NUMBERS : [storedValue(type, '2')]);
        return `${negated}(${this.value(type, scope, DEPTH_MAX)} ${this.#choices.pick(COMPARISONS)} ${constant})`;
      }
      case 9:
        return `(${this.#row(scope, DEPTH_MAX)} ${this.#choices.pick(COMPARISONS)} row(2, ${scope.id}, 'b'))`;
      default:
        return `coalesce(TRY_CAST(CAST(${this.any(scope, depth + 1)} AS VARCHAR) AS BOOLEAN), ${scope.id} % 2 = 0)`;
    }
  }

  #row(scope: Scope, depth: number): string {
    return `row(${scope.id} % 3, ${this.value('INTEGER', scope, depth + 1)}, ${this.value('VARCHAR', scope, depth + 1)})`;
  }

  aggregate(scope: Scope): string {
    const call = this.call('aggregate', scope);
    if (MACROS.test(call)) return call;
    const filter = this.#choices.chance(4) ? ` FILTER (WHERE ${this.condition(scope, 1)})` : '';
    const isOrdered = this.#choices.chance(2) || this.#form.isGuarded || FIRST_COUNTS.test(call);
    if (call.endsWith('()') || !isOrdered) return `${call}${filter}`;
    return `${call.slice(0, -1)} ORDER BY ${scope.id})${filter}`;
  }

  window(scope: Scope): string {
    const partition = this.#choices.chance(2) ? `PARTITION BY ${this.key(scope)} ` : '';
    const frame = this.#choices.pick([
      '',
      '',
      ' ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING',
      ' ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
    ]);
    const order = this.#choices.chance(2) ? `${this.key(scope)}, ` : '';
    return `${this.call('window', scope)} OVER (${partition}ORDER BY ${order}${scope.id}${frame})`;
  }
}
