import { decodePredicate, encodePredicate } from '#shared/iceberg/predicate-codec.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { ScanColumn, ScanDelete, ScanSpec, TaskSpec } from './task.ts';

/**
 * A task as JSON text. Integers of `Json` fields that a number cannot hold stand as `{"$int": "..."}`, literals of predicates as
 * `predicate-codec.ts` says: so the plain `JSON.parse` reads it, which is several times faster than one with a reviver.
 */
export function encodeTaskSpec(spec: TaskSpec): string {
  return JSON.stringify({ ...spec, scans: spec.scans.map(encodeScan) });
}

/** @throws SyntaxError, Error when `text` is not of `encodeTaskSpec`. */
export function decodeTaskSpec(text: string): TaskSpec {
  const spec = JSON.parse(text) as TaskSpec;
  return { ...spec, scans: spec.scans.map(decodeScan) };
}

const encodeScan = (scan: ScanSpec): object => ({
  ...mapJson(scan, tagIntegers),
  predicate: encodePredicate(scan.predicate),
});

const decodeScan = (scan: ScanSpec): ScanSpec => ({
  ...mapJson(scan, untagIntegers),
  predicate: decodePredicate(scan.predicate as Json),
});

/** The places of a scan that hold free `Json`. */
function mapJson(scan: ScanSpec, change: (json: Json) => Json): ScanSpec {
  return {
    ...scan,
    nameMapping: change(scan.nameMapping),
    columns: mapColumns(scan.columns, change),
    files: scan.files.map((file) => ({
      ...file,
      constants: change(file.constants) as JsonObject,
      deletes: file.deletes.length === 0 ? file.deletes : file.deletes.map((one) => mapDelete(one, change)),
    })),
  };
}

const mapDelete = (one: ScanDelete, change: (json: Json) => Json): ScanDelete =>
  one.kind === 'equality' ? { ...one, columns: mapColumns(one.columns, change) } : one;

const mapColumns = (columns: readonly ScanColumn[], change: (json: Json) => Json): readonly ScanColumn[] =>
  columns.map((column) => ({ ...column, initialDefault: change(column.initialDefault) }));

function tagIntegers(json: Json): Json {
  if (typeof json === 'bigint') return { $int: json.toString() };
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return (json as readonly Json[]).map(tagIntegers);
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, tagIntegers(value)]));
}

function untagIntegers(json: Json): Json {
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return (json as readonly Json[]).map(untagIntegers);
  const object = json as JsonObject;
  if (typeof object['$int'] === 'string') return BigInt(object['$int']);
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, untagIntegers(value)]));
}
