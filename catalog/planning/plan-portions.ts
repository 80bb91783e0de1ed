import { SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import { tooComplex } from '#shared/iceberg/decode-limits.ts';
import { planAppended, planEntries, type PlannedEntry, type Sink } from '#shared/iceberg/plan-files.ts';
import type { PlanFilesOptions } from '#shared/iceberg/planning.ts';
import type { ReadingPlace } from '#shared/iceberg/scan-request.ts';
import { parseTableMetadata, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { printJson, type Json } from '#shared/json.ts';
import { predicateOf, resolveScan, type PlannedScan } from '../metadata/plan-request.ts';
import { scanTasksJson } from './scan-tasks-json.ts';

/** Makes scan plans from texts, so that a worker thread can run it. */

export type ResolveInput = { /** The table's document. */ readonly metadata: string; readonly body: Json | undefined };

/** See `resolveScan`. @throws INVALID_REQUEST */
export const resolveText = ({ metadata, body }: ResolveInput): PlannedScan =>
  resolveScan(body, parseTableMetadata(metadata));

export type PortionsInput = {
  /** The location of the table's metadata file; its manifests are in the same storage. */
  readonly location: string;
  readonly tenant: TenantId;
  readonly metadata: string;
  readonly scan: PlannedScan;
  readonly roots: readonly string[];
  readonly filesMax: number;
  readonly filesPerPortion: number;
  /** Maximum size of a printed plan. */
  readonly bytesMax: number;
};

/** The files of a plan as printed `ScanTasks` of the REST specification, one text per portion; there is at least one portion. */
export type Portions = { readonly files: number; readonly texts: readonly Uint8Array[] };

/**
 * Plans a scan and prints its portions.
 * @throws PLAN_NOT_FOUND when the table no longer has what the scan reads; as `planEntries` does
 */
export async function planPortions(place: ReadingPlace, input: PortionsInput): Promise<Portions> {
  const metadata = parseTableMetadata(input.metadata);
  const writer = new PortionWriter(metadata, input);
  await planScan(place, input, metadata, (entry) => writer.add(entry));
  return writer.finish();
}

async function planScan(
  { io, manifestCaches, ...place }: ReadingPlace,
  { tenant, scan, roots, filesMax }: PortionsInput,
  metadata: TableMetadata,
  sink: Sink<PlannedEntry>,
): Promise<void> {
  const schema = metadata.schemas.find(({ schemaId }) => schemaId === scan.schemaId);
  const ids = scan.snapshotIds.map(BigInt);
  if (schema === undefined || ids.some((id) => !metadata.snapshots.has(id))) {
    throw new SkeinError('PLAN_NOT_FOUND', 'The snapshot or schema of the scan is no longer part of the table');
  }
  const options: PlanFilesOptions = {
    ...place,
    manifestCache: manifestCaches.of(tenant),
    allowedRoots: roots,
    filesMax,
  };
  const predicate = predicateOf(scan, schema);
  const [id] = ids;
  if (scan.kind === 'appends') await planAppended(io, metadata, ids, predicate, options, sink);
  else if (id !== undefined) await planEntries(io, metadata, id, predicate, options, sink);
}

/** Prints entries, `filesPerPortion` at a time, and keeps only the printed texts. */
class PortionWriter {
  readonly #metadata: TableMetadata;
  readonly #input: PortionsInput;
  readonly #texts: Uint8Array[] = [];
  #entries: PlannedEntry[] = [];
  #files = 0;
  #bytes = 0;

  constructor(metadata: TableMetadata, input: PortionsInput) {
    this.#metadata = metadata;
    this.#input = input;
  }

  add(entry: PlannedEntry): void {
    this.#files += 1;
    this.#entries.push(entry);
    if (this.#entries.length === this.#input.filesPerPortion) this.#flush();
  }

  finish(): Portions {
    if (this.#entries.length > 0 || this.#texts.length === 0) this.#flush();
    return { files: this.#files, texts: this.#texts };
  }

  #flush(): void {
    const json = scanTasksJson(this.#entries, this.#metadata, this.#input.scan);
    this.#entries = [];
    const text = new TextEncoder().encode(printJson(json));
    this.#bytes += text.length;
    if (this.#bytes > this.#input.bytesMax) throw tooComplex(`the plan has more than ${this.#input.bytesMax} bytes`);
    this.#texts.push(text);
  }
}
