import { setImmediate } from 'node:timers/promises';
import { decodePredicate, encodePredicate } from '#shared/iceberg/predicate-codec.ts';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { SqlText } from './sql-text.ts';
import type { RunTaskRequest } from '#proto/generated/skein/worker/v1/RunTaskRequest.ts';
import { givenMessages, takeMessages, type Counted } from './carried-messages.ts';
import type { InputSource, InputSpec, ScanSpec, SentTask, TaskHead, TaskSpec } from './task.ts';
import type { ScanAccess } from '#shared/ticket.ts';
import type { ScanColumn, ScanDelete, ScanFile } from '#shared/iceberg/scan-file.ts';

/** Files per line, so that printing or parsing one line takes a few milliseconds. */
const LINE_FILES = 500;
const NEWLINE = 0x0a;

/** A task as `RunTaskRequest` carries it: JSON, and the messages of its inputs. */
export type SentSpec = { readonly spec: Buffer; readonly messages: Buffer[] };

/** The first line: the part that the worker's main thread reads. */
type HeadLine = Omit<TaskHead, 'inputs'> & {
  readonly inputs: readonly (Omit<InputSpec, 'sources'> & { readonly sources: readonly Counted<InputSource>[] })[];
};
/** The second line: the part that the slot reads, without the files. */
type BodyLine = { readonly sql: SqlText; readonly scans: readonly Omit<ScanSpec, keyof ScanAccess | 'files'>[] };
/** Each later line: a portion of the files of a scan. */
type FilesLine = { readonly scan: number; readonly files: readonly ScanFile[] };

/**
 * Encodes a task as lines of JSON: its head, its text and scans, then the scans' files in portions. A worker's main thread reads only the
 * head; the event loop runs between two portions. Integers of `Json` fields that a number cannot hold are written as `{"$int": "..."}`,
 * literals of predicates as in `predicate-codec.ts`, so that plain `JSON.parse` can read them: several times faster than with a reviver.
 */
export async function encodeTaskSpec({ sql, scans, inputs, ...head }: TaskSpec): Promise<SentSpec> {
  const messages: Buffer[] = [];
  const access = scans.map(({ allowedRoots, credential }) => ({ allowedRoots, credential }));
  const counted = inputs.map(({ sources, ...input }) => ({
    ...input,
    sources: sources.map((source) => takeMessages(source, messages)),
  }));
  const sent: HeadLine = { ...head, inputs: counted, access };
  const body: BodyLine = { sql, scans: scans.map(encodeScan) };
  const lines = [Buffer.from(JSON.stringify(sent)), Buffer.from(JSON.stringify(body))];
  for (const [scan, { files }] of scans.entries()) {
    for (let start = 0; start < files.length; start += LINE_FILES) {
      if (start > 0) await setImmediate();
      const line: FilesLine = { scan, files: mapFiles(files.slice(start, start + LINE_FILES), tagIntegers) };
      lines.push(Buffer.from(JSON.stringify(line)));
    }
  }
  return { spec: Buffer.concat(lines.flatMap((line) => [line, Buffer.of(NEWLINE)])), messages };
}

/** @throws SyntaxError, Error when `bytes` are not of `encodeTaskSpec`. */
export function decodeTaskHead({ spec: bytes, messages }: Pick<RunTaskRequest, 'spec' | 'messages'>): SentTask {
  const end = bytes.indexOf(NEWLINE);
  const { inputs: counted, ...head } = JSON.parse(textOf(bytes.subarray(0, end))) as HeadLine;
  const left = messages.values();
  const inputs = counted.map(({ sources, ...input }) => ({
    ...input,
    sources: sources.map(({ messages: count, ...source }) => ({ ...source, ...givenMessages(count, left) })),
  }));
  // A copy, so that the task does not keep the buffer around the message alive.
  return { ...head, inputs, body: Uint8Array.prototype.slice.call(bytes, end + 1) };
}

/** @throws SyntaxError, Error when the body is not of `encodeTaskSpec`. */
export async function decodeTask({ body, access, ...head }: SentTask): Promise<TaskSpec> {
  const lines = linesOf(body);
  const { sql, scans } = JSON.parse(must(lines.next().value, 'a line of text and scans')) as BodyLine;
  const files = scans.map((): ScanFile[] => []);
  for (const text of lines) {
    const line = JSON.parse(text) as FilesLine;
    const known = must(files[line.scan], 'files of a scan');
    if (known.length > 0) await setImmediate();
    for (const file of mapFiles(line.files, untagIntegers)) known.push(file);
  }
  return {
    ...head,
    sql,
    scans: scans.map((scan, i) => ({
      ...decodeScan(scan),
      // `access` is signed with the ticket.
      ...must(access[i], 'the access of every scan'),
      files: must(files[i], 'files of every scan'),
    })),
  };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();

function* linesOf(bytes: Uint8Array): Generator<string, undefined> {
  for (let start = 0, end = bytes.indexOf(NEWLINE); end >= 0; start = end + 1, end = bytes.indexOf(NEWLINE, start)) {
    yield textOf(bytes.subarray(start, end));
  }
}

const encodeScan = ({
  allowedRoots: _roots,
  credential: _credential,
  files: _files,
  ...scan
}: ScanSpec): BodyLine['scans'][number] => ({
  ...mapJson(scan, tagIntegers),
  predicate: encodePredicate(scan.predicate) as unknown as Predicate,
});

const decodeScan = (scan: BodyLine['scans'][number]): BodyLine['scans'][number] => ({
  ...mapJson(scan, untagIntegers),
  predicate: decodePredicate(scan.predicate as Json),
});

type Change = (json: Json) => Json;

/** Maps the fields of a scan that hold free-form `Json`. */
const mapJson = (scan: BodyLine['scans'][number], change: Change): BodyLine['scans'][number] => ({
  ...scan,
  nameMapping: change(scan.nameMapping),
  columns: mapColumns(scan.columns, change),
});
const mapFiles = (files: readonly ScanFile[], change: Change): readonly ScanFile[] =>
  files.map((file) => ({
    ...file,
    constants: change(file.constants) as JsonObject,
    deletes: file.deletes.length === 0 ? file.deletes : file.deletes.map((one) => mapDelete(one, change)),
  }));

const mapDelete = (one: ScanDelete, change: Change): ScanDelete =>
  one.kind === 'equality' ? { ...one, columns: mapColumns(one.columns, change) } : one;

const mapColumns = (columns: readonly ScanColumn[], change: Change): readonly ScanColumn[] =>
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
