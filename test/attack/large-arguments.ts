/** Calls of DuckDB's functions with arguments that are made at run time, out of `i`, and are as large as a statement can make them. */

/** A signature as `duckdb_functions()` tells it. */
export type Signature = {
  readonly name: string;
  readonly kind: string;
  readonly types: readonly string[];
};

/** How large, and of which sort: equal texts, texts that a pattern is tried on in many ways, one huge text. */
const SORTS = ['large', 'wild', 'huge', 'similar'] as const;
type Sort = (typeof SORTS)[number];

const TEXTS: Readonly<Record<Sort, readonly [first: string, others: string]>> = {
  large: ["repeat('a', 1000000 + i::INT)", "repeat('a', 1000000 + i::INT)"],
  wild: ["repeat('a', 60000 + i::INT)", "(repeat('%a', 20000 + i::INT) || 'b')"],
  huge: ["repeat('ab', 15000000 + i::INT)", "substr('a', 1, 1 + i::INT)"],
  similar: ["repeat('ab-', 30000 + i::INT)", "repeat('ba-', 30000 + i::INT)"],
};
const JSON_TEXTS: Readonly<Record<Sort, string>> = {
  large: "('[' || repeat('1,', 1000000 + i::INT) || '1]')",
  wild: "(repeat('[', 900000 + i::INT) || repeat(']', 900000 + i::INT))",
  huge: `('{' || repeat('"a":1,', 2000000 + i::INT) || '"b":1}')`,
  similar: `(repeat('{"a":', 300000 + i::INT) || '1' || repeat('}', 300000 + i::INT))`,
};
const ELEMENTS: Readonly<Record<Sort, number>> = { large: 1_000_000, wild: 20_000, huge: 3_000_000, similar: 100_000 };
const NUMBERS: Readonly<Record<Sort, string>> = { large: '1000000', wild: '-1', huge: '3', similar: '50' };
const SMALL_INTEGERS = /^U?(?:TINY|SMALL)INT$/;
const ANYTHING = /^(?:ANY|T|K|V|null)$/;

/** The calls of a function with every sort of arguments; none when an argument of its type cannot be made. */
export function largeCalls({ name, kind, types }: Signature): readonly string[] {
  if (kind === 'aggregate') return [];
  return SORTS.flatMap((sort) => {
    const values = types.map((type, position) => argument(type, sort, position));
    const lists = types.map((type, position) => argument(ANYTHING.test(type) ? 'ANY[]' : type, sort, position));
    const calls = types.some((type) => ANYTHING.test(type)) ? [values, lists] : [values];
    return calls.flatMap((made) => (made.includes(undefined) ? [] : (call(name, made as readonly string[]) ?? [])));
  });
}

function call(name: string, values: readonly string[]): string | undefined {
  const [left = '', right = ''] = values;
  if (/[a-z_]/.test(name)) return `SELECT hash("${name}"(${values.join(', ')})) FROM range(1) t(i)`;
  return values.length === 2 ? `SELECT hash((${left}) ${name} (${right})) FROM range(1) t(i)` : undefined;
}

function argument(type: string, sort: Sort, position: number): string | undefined {
  const [first, others] = TEXTS[sort];
  const text = position === 0 ? first : others;
  const elements = `range(${ELEMENTS[sort]} + i)`;
  const mapped = (body: string): string => `list_transform(${elements}, lambda x: ${body})`;
  if (type === 'VARCHAR' || ANYTHING.test(type)) return text;
  if (type === 'BLOB') return `${text}::BLOB`;
  if (type === 'BIT') return "repeat('01', 500000 + i::INT)::BIT";
  if (type === 'JSON') return JSON_TEXTS[sort];
  if (/^(?:T|ANY|BIGINT|K|V)\[\]$/.test(type)) return position % 2 === 1 ? `list_reverse(${elements})` : elements;
  if (type === 'VARCHAR[]') return mapped('(x * 7919 % 1000003)::VARCHAR');
  if (/^(?:DOUBLE|FLOAT|BOOLEAN)\[\]$/.test(type)) return mapped(`(x % 2)::${type.slice(0, -2)}`);
  if (type === 'LAMBDA') return 'lambda x: x > 3';
  if (type.startsWith('MAP')) return `map_from_entries(list_transform(range(20000 + i), lambda x: row(x, x)))`;
  if (/^(?:DOUBLE|FLOAT|DECIMAL)$/.test(type)) return `(1000000 + i)::DOUBLE`;
  if (SMALL_INTEGERS.test(type)) return `(100 + i)::${type}`;
  if (type.endsWith('INT') || type === 'INTEGER') return `(abs(${NUMBERS[sort]}) + i)::${type}`;
  if (type === 'BIGNUM') return "repeat('9', 3000 + i::INT)::BIGNUM";
  if (type === 'INTERVAL') return sort === 'large' ? 'to_microseconds(1 + i)' : 'to_months(1 + i::INT)';
  if (type === 'DATE') return position === 0 ? "DATE '0001-01-01' + i::INT" : "DATE '9999-01-01' - i::INT";
  if (type.startsWith('TIMESTAMP')) {
    return `(TIMESTAMP '${position === 0 ? '0001' : '9999'}-01-01' + to_days(i::INT))::${type}`;
  }
  return type === 'BOOLEAN' ? 'i >= 0' : undefined;
}
