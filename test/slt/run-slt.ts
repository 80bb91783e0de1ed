import { unreachable } from '#shared/must.ts';
import { printJson, type Json } from '#shared/json.ts';
import type { Engine, EngineAnswer } from './engine.ts';
import type { SltRecord } from './slt-file.ts';

/** Relative difference that two numbers of an `R` column may have (sums of doubles depend on their order). */
const TOLERANCE = 1e-9;
/** Begins an expected value that is a regular expression. */
const REGEX = '<REGEX>:';

/** Runs the records in order; returns a message for each record that did not behave as it says. */
export async function runSlt(
  records: readonly SltRecord[],
  engine: Engine,
  afterError: () => Promise<string | null> = () => Promise.resolve(null),
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const record of records) {
    if (record.skip.includes(engine.name) || (record.only !== null && record.only !== engine.name)) continue;
    const message = await runRecord(record, engine);
    const probe = record.kind === 'error' ? await afterError() : null;
    for (const text of [message, probe]) {
      if (text !== null) failures.push(`line ${record.line}: ${text}\n    ${record.sql.slice(0, 300)}`);
    }
  }
  return failures;
}

async function runRecord(record: SltRecord, engine: Engine): Promise<string | null> {
  if (record.kind === 'file') {
    await engine.putFile?.(record.stage, record.path, `${record.sql}\n`);
    return null;
  }
  const answer = await engine.run(record.sql);
  switch (record.kind) {
    case 'ok':
      return answer.kind === 'error' ? `failed with ${answer.sqlState}: ${answer.message}` : null;
    case 'error': {
      if (answer.kind === 'rows') return 'succeeded, but must fail';
      // DuckDB has no SQLSTATEs.
      return answer.sqlState === null || answer.sqlState === record.sqlState
        ? null
        : `failed with ${answer.sqlState} (${answer.message}), expected ${record.sqlState}`;
    }
    case 'query':
      if (answer.kind === 'error') return `failed with ${answer.sqlState}: ${answer.message}`;
      return compare(record, answer);
    default:
      return unreachable(record);
  }
}

function compare(
  record: SltRecord & { kind: 'query' },
  { columns, rows }: EngineAnswer & { kind: 'rows' },
): string | null {
  const width = columns.length;
  if (width !== record.types.length) return `${width} columns, expected ${record.types.length}`;
  const names = columns.join('\t');
  const expectedNames = record.columns?.join('\t') ?? names;
  if (names !== expectedNames) return `columns ${names}, expected ${expectedNames}`;
  const actual = sorted(
    rows.map((row) => row.map((value, i) => printValue(value, record.types[i] ?? 'T'))),
    record.sort,
  );
  const expected = sorted(chunk(record.expected, width), record.sort);
  const same =
    actual.length === expected.length &&
    actual.every((row, r) => row.every((value, c) => equal(value, expected[r]?.[c], record.types[c])));
  return same ? null : `got:\n${print(actual)}\n  expected:\n${print(expected)}`;
}

function equal(actual: string, expected: string | undefined, type: string | undefined): boolean {
  if (actual === expected) return true;
  if (expected === undefined) return false;
  if (expected.startsWith(REGEX)) return new RegExp(`^(?:${expected.slice(REGEX.length)})$`).test(actual);
  if (type !== 'R') return false;
  const [a, b] = [Number(actual), Number(expected)];
  return Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

/** `NULL`, `(empty)`, text as it is, everything else as compact JSON; line breaks and tabs are escaped. */
function printValue(value: Json, type: string): string {
  if (value === null) return 'NULL';
  if (value === '') return '(empty)';
  if (type === 'R' && typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : printJson(value);
  return text.replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

const chunk = (values: readonly string[], width: number): string[][] =>
  Array.from({ length: Math.ceil(values.length / width) }, (_, i) => values.slice(i * width, (i + 1) * width));

function sorted(
  rows: readonly (readonly string[])[],
  mode: 'nosort' | 'rowsort' | 'valuesort',
): readonly (readonly string[])[] {
  if (mode === 'nosort') return rows;
  if (mode === 'valuesort') {
    return rows
      .flat()
      .sort()
      .map((value) => [value]);
  }
  return [...rows].sort((a, b) => (a.join('\t') < b.join('\t') ? -1 : 1));
}

const print = (rows: readonly (readonly string[])[]): string => rows.map((row) => `    ${row.join('\t')}`).join('\n');
