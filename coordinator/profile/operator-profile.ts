import { isObject } from '#shared/iceberg/type.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/**
 * One of DuckDB's operators, summed over tasks: its output rows, beside those that DuckDB expected, the rows that a scan read, and the time in
 * it without its inputs.
 */
export type Operator = {
  readonly name: string;
  readonly rows: number;
  /** Null when DuckDB does not estimate it. */
  readonly estimatedRows: number | null;
  readonly rowsScanned: number;
  readonly timeMs: number;
  /** Number of tasks that ran it. */
  readonly tasks: number;
  readonly children: readonly Operator[];
};

/** The operators of a task's profile. */
export function readOperators(profile: Json): readonly Operator[] {
  if (!isObject(profile)) return [];
  const children = Array.isArray(profile['children']) ? (profile['children'] as readonly Json[]).filter(isObject) : [];
  const below = children.flatMap(readOperators);
  const name = profile['operator_name'];
  // The root stands for the whole query and has no name.
  if (typeof name !== 'string') return below;
  const number = (key: string): number => Number(profile[key] ?? 0);
  return [
    {
      name: name.trim(),
      rows: number('operator_cardinality'),
      estimatedRows: estimateIn(profile['extra_info']),
      rowsScanned: number('operator_rows_scanned'),
      timeMs: number('operator_timing') * 1000,
      tasks: 1,
      children: below,
    },
  ];
}

/** The estimate in an operator's texts: DuckDB prints it behind them, as `{Table=t, __estimated_cardinality__=10}`. */
function estimateIn(texts: Json | undefined): number | null {
  const found = typeof texts === 'string' ? [...texts.matchAll(/__estimated_cardinality__=(\d+)/g)].at(-1) : undefined;
  return found === undefined ? null : Number(found[1]);
}

/**
 * Merges the operators of several tasks of one fragment by their place in the tree and their name: DuckDB may plan the same text
 * differently in each task.
 */
export function mergeOperators(tasks: readonly (readonly Operator[])[]): readonly Operator[] {
  const places = Math.max(0, ...tasks.map((operators) => operators.length));
  return Array.from({ length: places }, (_, at) => tasks.flatMap((operators) => operators[at] ?? [])).flatMap(
    (here) => {
      const names = [...new Set(here.map(({ name }) => name))];
      return names.map((name) => {
        const same = here.filter((operator) => operator.name === name);
        const sum = (of: (operator: Operator) => number): number => same.reduce((total, one) => total + of(one), 0);
        return {
          name,
          rows: sum(({ rows }) => rows),
          estimatedRows: same.every((one) => one.estimatedRows === null)
            ? null
            : sum(({ estimatedRows }) => estimatedRows ?? 0),
          rowsScanned: sum(({ rowsScanned }) => rowsScanned),
          timeMs: sum(({ timeMs }) => timeMs),
          tasks: same.length,
          children: mergeOperators(same.map(({ children }) => children)),
        };
      });
    },
  );
}

/** Prints one line per operator, children indented. */
export function operatorLines(operators: readonly Operator[], depth = 1): string[] {
  return operators.flatMap(({ name, rows, estimatedRows, rowsScanned, timeMs, children }) => [
    [
      `${'  '.repeat(depth)}${name} rows=${rows}`,
      ...(estimatedRows === null ? [] : [`estimated_rows=${estimatedRows}`]),
      ...(rowsScanned === 0 ? [] : [`rows_scanned=${rowsScanned}`]),
      `time_ms=${timeMs.toFixed(2)}`,
    ].join(' '),
    ...operatorLines(children, depth + 1),
  ]);
}

export const operatorJson = ({
  name,
  rows,
  estimatedRows,
  rowsScanned,
  timeMs,
  tasks,
  children,
}: Operator): JsonObject => ({
  name,
  rows,
  estimated_rows: estimatedRows,
  rows_scanned: rowsScanned,
  time_ms: Number(timeMs.toFixed(3)),
  tasks,
  children: children.map(operatorJson),
});
