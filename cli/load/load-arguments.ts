import { parseArgs } from 'node:util';
import type { TableName } from '#shared/iceberg/write/table-write.ts';
import { UsageError } from '../exit-code.ts';
import { parsePartitionBy, type PartitionExpression } from './partition-by.ts';

/** A parsed `skein load` command line. */
export type LoadArguments =
  | {
      readonly kind: 'parquet';
      readonly globs: readonly string[];
      readonly table: TableName;
      readonly mode: LoadMode;
      readonly partitionBy: readonly PartitionExpression[];
      readonly json: boolean;
    }
  | {
      readonly kind: 'tpch';
      /** The scale as the user wrote it, which is passed to `tpchgen-cli`. */
      readonly scale: string;
      readonly namespace: string;
      readonly mode: 'create' | 'replace';
      readonly json: boolean;
    };

/** `create`: the table must not exist; `replace`: it may; `append`: it must. */
export type LoadMode = 'append' | 'create' | 'replace';

export const LOAD_USAGE = `Usage:
  skein load parquet <file or glob>... --table <catalog.namespace.table> [--create | --replace]
                     [--partition-by "month(ts), bucket(16, id)"] [--json]
  skein load tpch --scale <factor> [--replace] [--namespace tpch] [--json]

Without --create or --replace, rows are appended to a table that exists.
Transforms of --partition-by: <column>, year, month, day, hour (<column>), bucket(<n>, <column>), truncate(<width>, <column>).
`;

const SCALE_MAX = 100_000;

/** @throws UsageError */
export function parseLoadArguments(args: readonly string[]): LoadArguments {
  const { values, positionals } = parse(args);
  const [kind, ...inputs] = positionals;
  if (values.create && values.replace) throw new UsageError('--create and --replace exclude each other');
  if (kind === 'parquet') {
    if (inputs.length === 0) throw new UsageError('no input file is named');
    if (values.table === undefined) throw new UsageError('--table is missing');
    if (values.scale !== undefined || values.namespace !== undefined) {
      throw new UsageError('--scale and --namespace belong to skein load tpch');
    }
    const mode = values.create ? 'create' : values.replace ? 'replace' : 'append';
    const partitionBy = values['partition-by'] === undefined ? [] : parsePartitionBy(values['partition-by']);
    if (partitionBy.length > 0 && mode === 'append') throw new UsageError('--partition-by needs --create or --replace');
    return { kind, globs: inputs, table: parseTableName(values.table), mode, partitionBy, json: values.json };
  }
  if (kind === 'tpch') {
    if (inputs.length > 0) throw new UsageError(`unexpected argument ${inputs[0]}`);
    if (values.table !== undefined || values['partition-by'] !== undefined || values.create) {
      throw new UsageError('--table, --create and --partition-by belong to skein load parquet');
    }
    const scale = values.scale ?? '';
    if (!/^\d+(\.\d+)?$/.test(scale) || Number(scale) <= 0 || Number(scale) > SCALE_MAX) {
      throw new UsageError('--scale needs a number above 0, such as 0.01 or 1');
    }
    const mode = values.replace ? 'replace' : 'create';
    return { kind, scale, namespace: values.namespace ?? 'tpch', mode, json: values.json };
  }
  throw new UsageError(kind === undefined ? 'what to load is missing' : `cannot load ${JSON.stringify(kind)}`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        table: { type: 'string' },
        create: { type: 'boolean', default: false },
        replace: { type: 'boolean', default: false },
        'partition-by': { type: 'string' },
        scale: { type: 'string' },
        namespace: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the arguments are not valid');
  }
}

/** `lake.ns.t`; a part in double quotes keeps its case and spaces; every dot of the middle parts a namespace level. @throws UsageError */
export function parseTableName(text: string): TableName {
  const parts = [...text.matchAll(/"((?:[^"]|"")+)"(?:\.|$)|([^".\s]+)(?:\.|$)/gy)];
  const names = parts.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
  const whole = parts.map(([match]) => match).join('');
  const [catalog, ...rest] = names;
  const table = rest.pop();
  if (whole !== text || text.endsWith('.') || catalog === undefined || table === undefined || rest.length === 0) {
    throw new UsageError(`--table needs catalog.namespace.table, not ${JSON.stringify(text)}`);
  }
  return { catalog, namespace: rest.flatMap((level) => level.split('.')), table };
}

/** The name as messages and events show it. */
export const printTableName = ({ catalog, namespace, table }: TableName): string =>
  [catalog, ...namespace, table].join('.');
