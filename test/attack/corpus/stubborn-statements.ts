/**
 * Statements whose single row takes long, in expressions that ignore interrupts, with arguments made at run time. Each has once blocked a
 * slot, for seconds or for ever.
 */
export const STUBBORN_STATEMENTS: readonly string[] = [
  "repeat('a', 3000 + i::INT) LIKE repeat('%a', 1200 + i::INT) || 'b'",
  "repeat('a', 3000 + i::INT) ILIKE repeat('%a', 1200 + i::INT) || 'b'",
  "repeat('a', 3000 + i::INT) GLOB repeat('*a', 1200 + i::INT) || 'b'",
  "levenshtein(repeat('a', 30000 + i::INT), repeat('b', 30000 + i::INT))",
  "damerau_levenshtein(repeat('a', 30000 + i::INT), repeat('b', 30000 + i::INT))",
  "jaccard(repeat('ab', 15000000 + i::INT), repeat('cd', 15000000 + i::INT))",
  "regexp_matches(repeat('a', 3000000 + i::INT), '(a?){0,900}b')",
  "regexp_replace(repeat('ab', 10000000 + i::INT), '(a|b)*?(a|b)', 'x', 'g')",
  'list_sort(list_transform(range(5000000 + i), lambda x: hash(x)))',
  "bit_count(repeat('01', 50000000 + i::INT)::BIT)",
  "format(repeat('{}', 5000000 + i::INT), i)",
  '(2 + i)::HUGEINT ** 126::HUGEINT',
  "json_extract(repeat('[', 500000 + i::INT) || repeat(']', 500000 + i::INT), '$' || repeat('[0]', 300000 + i::INT))",
  'len(generate_series(1, 200000000 + i))',
  "generate_series(TIMESTAMP '0001-01-01', TIMESTAMP '9999-01-01', to_microseconds(1 + i))",
  'map(range(5000000 + i), range(5000000 + i))',
].map((expression) => `SELECT hash(${expression}) FROM range(1) t(i)`);
