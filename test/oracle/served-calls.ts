import type { DuckDBConnection } from '@duckdb/node-api';
import { CONTEXT_FUNCTIONS, isFunctionAllowed } from '#coordinator/binding/function-policy.ts';
import { spellingInstead } from '#coordinator/resolver/unsound-calls.ts';
import { ANY_ELEMENTS, ANY_TYPES, valueOf, type Stored } from './argument-types.ts';
import { CONSTANTS, CONTEXT_CALLS, WHOLE_CALLS } from './call-texts.ts';

/** A call of a function that the gate serves. A type in braces in its text is replaced by a value of the type. */
export type ServedCall = {
  readonly name: string;
  /** `abs(INTEGER)`, as in `duckdb_functions()`; coverage counts these. */
  readonly signature: string;
  readonly kind: 'scalar' | 'aggregate';
  readonly text: string;
};

/** The calls, and the functions that are left out, each with its reason. */
export type ServedCalls = {
  readonly calls: readonly ServedCall[];
  readonly signatures: readonly string[];
  readonly leftOut: ReadonlyMap<string, string>;
};

/** Functions that are left out for a reason that neither the gate nor `duckdb_functions()` tells. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  alias: 'its answer is the text of its argument',
  combine: 'no served function gives an aggregate state',
  finalize: 'no served function gives an aggregate state',
  make_type: 'its answer is a type, which no column has',
  version: 'its answer is of the engine',
};

type FunctionRow = {
  readonly name: string;
  readonly kind: 'scalar' | 'aggregate' | 'macro';
  readonly stability: string;
  readonly types: readonly string[];
  readonly varargs: string | null;
};

/** Every function that DuckDB lists and the gate serves, with every type that each of its parameters takes. */
export async function servedCalls(connection: DuckDBConnection): Promise<ServedCalls> {
  const leftOut = new Map<string, string>();
  const calls = new Map<string, ServedCall>();
  const signatures = new Set<string>();
  for (const row of await functionRows(connection)) {
    const reason = whyLeftOut(row);
    if (reason !== null) {
      leftOut.set(row.name, reason);
      continue;
    }
    const texts = WHOLE_CALLS[row.name] ?? CONTEXT_CALLS[row.name];
    const signature = texts === undefined ? `${row.name}(${signatureTypes(row).join(', ')})` : row.name;
    signatures.add(signature);
    const kind = row.kind === 'aggregate' || AGGREGATE_MACROS.test(row.name) ? 'aggregate' : 'scalar';
    for (const text of texts ?? textsOf(row)) calls.set(text, { name: row.name, signature, kind, text });
  }
  return { calls: [...calls.values()], signatures: [...signatures].sort(), leftOut };
}

async function functionRows(connection: DuckDBConnection): Promise<readonly FunctionRow[]> {
  const reader = await connection.runAndReadAll(
    `SELECT DISTINCT lower(function_name), function_type, coalesce(stability, ''), parameter_types, parameters, varargs
     FROM duckdb_functions() WHERE function_type IN ('scalar', 'aggregate', 'macro') ORDER BY ALL`,
  );
  const rows = reader.getRowsJson() as [
    string,
    FunctionRow['kind'],
    string,
    (string | null)[],
    string[],
    string | null,
  ][];
  return rows
    .filter(([name]) => isFunctionAllowed(name) && !name.startsWith('icu_collate'))
    .map(([name, kind, stability, types, , varargs]) => ({
      name,
      kind,
      stability,
      types: types.map((type) => type ?? 'ANY'),
      varargs,
    }));
}

const signatureTypes = ({ types, varargs }: FunctionRow): readonly string[] =>
  varargs === null ? types : [...types, `${varargs}...`];

function whyLeftOut({ name, stability, types }: FunctionRow): string | null {
  if (spellingInstead(name, { children: types }) !== undefined) return 'DuckDB answers it wrongly';
  if (stability === 'VOLATILE') return 'DuckDB says that it is volatile';
  if (CONTEXT_FUNCTIONS.has(name) && CONTEXT_CALLS[name] === undefined) return 'its answer is of the session';
  return LEFT_OUT[name] ?? null;
}

/** Macros that aggregate. */
const AGGREGATE_MACROS = /^(?:json_group_|geomean|geometric_mean|wavg|weighted_avg)/;

/** A call for each type that stands for ANY; texts that are constants follow one another. */
function textsOf(row: FunctionRow): readonly string[] {
  const types = row.varargs === null ? row.types : [...row.types, row.varargs, row.varargs];
  const turns = types.some((type) => GENERIC.test(type)) ? ANY_TYPES.length : 1;
  const constants = Math.max(1, ...types.map((type, i) => constantsOf(row.name, type, i)?.length ?? 1));
  return Array.from({ length: Math.max(turns, constants) }, (_, turn) => {
    const values = types.map((_, i) => argument(row.name, types, i, turn));
    return printCall(row.name, values);
  });
}

const GENERIC = /^(?:ANY|T|K|V)\b/;

const constantsOf = (name: string, type: string, position: number): readonly string[] | undefined =>
  CONSTANTS.find(
    (one) => one.names.test(name) && (one.type ?? type) === type && (one.position ?? position) === position,
  )?.texts;

function argument(name: string, types: readonly string[], position: number, turn: number): string {
  const type = types[position] ?? '';
  const texts = constantsOf(name, type, position);
  if (texts !== undefined) return (texts[turn % texts.length] ?? '').replaceAll('=', types[0] ?? '');
  return `{${concreteType(type, types, turn)}}`;
}

/** The element type of each list type: the type for T beside a T[]. */
const ELEMENTS: Readonly<Record<string, string>> = {
  'INTEGER[]': 'INTEGER',
  'VARCHAR[]': 'VARCHAR',
  'DOUBLE[]': 'DOUBLE',
  'STRUCT[]': 'STRUCT(a INTEGER, b VARCHAR)',
  'INTEGER[][]': 'INTEGER[]',
  'BOOLEAN[]': 'BOOLEAN',
  'INTEGER[2]': 'INTEGER',
};

function concreteType(type: string, types: readonly string[], turn: number): string {
  const list = ANY_ELEMENTS[turn % ANY_ELEMENTS.length] ?? '';
  switch (type) {
    case 'ANY':
    case 'T':
      if (types.includes(`${type}[]`)) return ELEMENTS[list] ?? '';
      return ANY_TYPES[turn] ?? 'INTEGER';
    case 'ANY[]':
    case 'T[]':
      return list;
    case 'T[][]':
      return 'INTEGER[][]';
    case 'K':
      return 'VARCHAR';
    case 'K[]':
    case 'V[]':
      return 'VARCHAR[]';
    case 'STRUCT':
      return turn % 2 === 0 ? 'STRUCT(a INTEGER, b VARCHAR)' : 'ROW';
    case 'MAP(K, V)':
      return turn % 2 === 0 ? 'MAP(VARCHAR, INTEGER)' : 'MAP(INTEGER, ROW)';
    case 'DOUBLE[ANY]':
      return 'DOUBLE[3]';
    case 'FLOAT[ANY]':
      return 'FLOAT[3]';
    default:
      return type;
  }
}

function printCall(name: string, values: readonly string[]): string {
  const [left = '', right] = values;
  if (/[a-z]/.test(name) && name !== '!__postfix') return `"${name}"(${values.join(', ')})`;
  if (name === '!__postfix') return `(${left} !)`;
  return right === undefined ? `(${name} ${left})` : `(${left} ${name} ${right})`;
}

/** The text with a value in place of each type; undefined when a type is not known. */
export function fillCall(text: string, of: Stored): string | undefined {
  let isKnown = true;
  const filled = text.replaceAll(/\{([A-Z][^{}"':]*)\}/g, (_, type: string) => {
    const value = valueOf(type, of);
    isKnown &&= value !== undefined;
    return value ?? '';
  });
  return isKnown ? filled : undefined;
}
