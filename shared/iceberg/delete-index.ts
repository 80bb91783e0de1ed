import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { keyBounds, locationKey } from '#shared/storage/location.ts';
import { compareCodePoints } from './compare-literals.ts';
import type { Steps } from './decode-limits.ts';
import { columnStats, statsSteps, type DataFile, type ManifestEntry } from './manifest.ts';
import { invalid, type Field } from './type.ts';

/**
 * Finds the delete files that apply to a data file (specification, "Scan Planning"):
 *  - a deletion vector applies to the file that it names, from that file's sequence number on;
 *  - otherwise position deletes of the same partition apply, from the file's sequence number on, when they name the file or their bounds
 *    of `file_path` include its path;
 *  - equality deletes of the same partition, or of an unpartitioned spec, apply when they are newer than the file.
 */
export class DeleteIndex {
  readonly #fields: ReadonlyMap<number, Field>;
  readonly #specIsPartitioned: (specId: number) => boolean;
  readonly #steps: Steps;
  readonly #vectors = new Map<string, Delete>();
  readonly #positionsByPath = new Map<string, Delete[]>();
  readonly #positionsByPartition = new Map<string, Delete[]>();
  readonly #equalityByPartition = new Map<string, Delete[]>();
  readonly #equalityGlobal: Delete[] = [];
  #count = 0;

  /** @param steps budget for checking delete files against data files, whose numbers multiply */
  constructor(fields: ReadonlyMap<number, Field>, specIsPartitioned: (specId: number) => boolean, steps: Steps) {
    this.#fields = fields;
    this.#specIsPartitioned = specIsPartitioned;
    this.#steps = steps;
  }

  get count(): number {
    return this.#count;
  }

  add(entry: ManifestEntry): void {
    const { file } = entry;
    this.#count++;
    this.#steps.spend(statsSteps(file.stats));
    if (file.content === 'equality-deletes') {
      this.#checkColumns(file);
      const list = this.#specIsPartitioned(file.specId)
        ? listOf(this.#equalityByPartition, partitionKey(file))
        : this.#equalityGlobal;
      list.push(toDelete(entry));
    } else if (file.format === 'puffin') {
      this.#addVector(entry);
    } else {
      const one = toDelete(entry);
      if (one.only === undefined) listOf(this.#positionsByPartition, partitionKey(file)).push(one);
      else listOf(this.#positionsByPath, one.only).push(one);
    }
  }

  /** Returns the delete files that apply to a data file; a deletion vector is one of format `puffin`. */
  deletesOf(entry: ManifestEntry): readonly DataFile[] {
    if (this.#count === 0) return NONE;
    const { file, sequenceNumber } = entry;
    const key = partitionKey(file);
    const path = locationKey(file.path);
    const found: DataFile[] = [];
    const vector = this.#vectors.get(path);
    if (vector !== undefined && vector.sequenceNumber >= sequenceNumber) {
      found.push(vector.file);
    } else {
      for (const list of [this.#positionsByPath.get(path), this.#positionsByPartition.get(key)]) {
        this.#steps.spend((list?.length ?? 0) * DELETE_STEPS);
        for (const one of list ?? []) {
          const applies = one.sequenceNumber >= sequenceNumber && one.partition === key && mayName(one, path);
          if (applies) found.push(one.file);
        }
      }
    }
    for (const list of [this.#equalityGlobal, this.#equalityByPartition.get(key)]) {
      this.#steps.spend((list?.length ?? 0) * DELETE_STEPS);
      for (const one of list ?? []) if (one.sequenceNumber > sequenceNumber) found.push(one.file);
    }
    if (found.length > DELETES_PER_FILE_MAX) {
      throw new SkeinError('NOT_SUPPORTED', `more than ${DELETES_PER_FILE_MAX} delete files apply to ${file.path}`);
    }
    return found;
  }

  #checkColumns({ equalityIds, path }: DataFile): void {
    if (equalityIds.length === 0) throw invalid(`equality deletes without columns in ${path}`);
    const unknown = equalityIds.find((id) => !this.#fields.has(id));
    if (unknown !== undefined) throw invalid(`equality deletes in ${path} name the unknown column ${unknown}`);
  }

  #addVector(entry: ManifestEntry): void {
    const { file } = entry;
    const { referencedDataFile } = file;
    if (referencedDataFile === undefined) throw invalid(`deletion vector in ${file.path} does not say where it is`);
    const key = locationKey(referencedDataFile);
    if (this.#vectors.has(key)) throw invalid(`two deletion vectors for ${referencedDataFile}`);
    this.#vectors.set(key, toDelete(entry));
  }
}

/** Steps to check whether a delete file applies to a data file. */
const DELETE_STEPS = 2;
/** Maximum number of delete files that apply to one data file. */
const DELETES_PER_FILE_MAX = 10_000;
/** Reserved field id of `file_path` in position delete files. */
export const FILE_PATH_ID = 2_147_483_546;

const NONE: readonly DataFile[] = [];

type Delete = {
  readonly file: DataFile;
  readonly sequenceNumber: bigint;
  readonly partition: string;
  /** Key of the only data file that the delete file names. */
  readonly only: string | undefined;
  /** Bounds of the keys of all that it names. */
  readonly bounds: { readonly lower: string; readonly upper: string } | undefined;
};

function toDelete({ file, sequenceNumber }: ManifestEntry): Delete {
  const namesPaths = file.content === 'position-deletes' && file.format !== 'puffin';
  const paths = namesPaths ? columnStats(file.stats, FILE_PATH_ID, { kind: 'string' }) : undefined;
  const lower = typeof paths?.lower === 'string' ? paths.lower : undefined;
  const upper = typeof paths?.upper === 'string' ? paths.upper : undefined;
  const only = file.referencedDataFile ?? (lower === upper ? lower : undefined);
  return {
    file,
    sequenceNumber,
    partition: partitionKey(file),
    only: only === undefined ? undefined : locationKey(only),
    bounds: lower === undefined || upper === undefined ? undefined : keyBounds(lower, upper),
  };
}

const mayName = (one: Delete, path: string): boolean =>
  (one.only === undefined || one.only === path) &&
  (one.bounds === undefined ||
    (compareCodePoints(one.bounds.lower, path) <= 0 && compareCodePoints(one.bounds.upper, path) >= 0));

/** Returns the spec and partition values of a file as text, which is equal for equal partitions. */
function partitionKey(file: DataFile): string {
  if (file.partition.length === 0) return `${file.specId}`;
  const values = file.partition.map((value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value === null ? null : String(value),
  );
  return `${file.specId} ${JSON.stringify(values)}`;
}

function listOf(map: Map<string, Delete[]>, key: string): Delete[] {
  if (!map.has(key)) map.set(key, []);
  return must(map.get(key), 'the list was just made');
}
