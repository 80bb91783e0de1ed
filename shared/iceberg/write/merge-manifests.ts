import { SkeinError } from '#shared/error.ts';
import { withinRoots } from '../allowed-roots.ts';
import type { ManifestFile } from '../manifest.ts';
import type { ManifestWriter } from './manifest-writer.ts';

/** A merged manifest, none when no entry was left, and the paths of those whose entries it has. */
type Merged = { readonly sources: ReadonlySet<string>; readonly manifests: readonly ManifestFile[] };

/** A commit need not merge: what is too much to read stays as it is. */
function unlessTooMuch(error: unknown): null {
  if (error instanceof SkeinError && (error.code === 'TABLE_DATA_TOO_COMPLEX' || error.code === 'QUEUE_FULL'))
    return null;
  throw error;
}

type Bin = [ManifestFile, ...ManifestFile[]];

/** Small data manifests of one spec are merged when there are this many, unless `commit.manifest.min-count-to-merge` says otherwise. */
const MIN_COUNT = 100;

/**
 * Keeps the list of a table's manifests short, however many small writes it gets. When many data manifests of one spec are small, the commit
 * that finds them writes their entries into one; so a manifest is rewritten once in a hundred commits, and not any more when it is large.
 *
 *   s s s ... s L   ─▶   M L        s: small manifest, L: one of the target size, M: all entries of the small ones
 *
 * The table's properties are Iceberg's: `commit.manifest-merge.enabled`, `commit.manifest.min-count-to-merge` and
 * `commit.manifest.target-size-bytes`.
 */
export class ManifestMerging {
  readonly #properties: Readonly<Record<string, string>>;
  readonly #isAllowed: (location: string) => boolean;
  readonly #targetBytes: number;
  #merged: readonly Merged[] | undefined;

  /** @param allowedRoots the folders in which manifests may lie; one elsewhere stays as it is */
  constructor(properties: Readonly<Record<string, string>>, allowedRoots: readonly string[], targetBytes: number) {
    this.#properties = properties;
    this.#isAllowed = withinRoots(allowedRoots);
    this.#targetBytes = targetBytes;
  }

  /**
   * Returns the manifests of a snapshot, with those merged that an earlier one made. What an earlier attempt of the commit merged is used
   * again, as long as all of it is there.
   * @throws INVALID_TABLE_DATA, TABLE_DATA_TOO_COMPLEX
   */
  async apply(writer: ManifestWriter, manifests: readonly ManifestFile[]): Promise<readonly ManifestFile[]> {
    this.#merged ??= await this.#merge(writer, manifests);
    const present = new Set(manifests.map(({ path }) => path));
    const usable = this.#merged.filter(({ sources }) => sources.isSubsetOf(present));
    const placed = new Set<Merged>();
    return manifests.flatMap((manifest) => {
      const merged = usable.find(({ sources }) => sources.has(manifest.path));
      if (merged === undefined) return [manifest];
      if (placed.has(merged)) return [];
      placed.add(merged);
      return merged.manifests;
    });
  }

  /** The manifests that would become one, of those that snapshots before `snapshotId` made. */
  bins(manifests: readonly ManifestFile[], snapshotId: bigint | null): readonly Bin[] {
    const properties = this.#properties;
    if (properties['commit.manifest-merge.enabled'] === 'false') return [];
    const minCount = Number(properties['commit.manifest.min-count-to-merge']) || MIN_COUNT;
    const small = manifests.filter((one) => this.#isSmall(one, snapshotId));
    const groups = [...Map.groupBy(small, ({ specId }) => specId).values()];
    return groups.filter((group) => group.length >= minCount).flatMap((group) => binsOf(group, this.#targetBytes));
  }

  async #merge(writer: ManifestWriter, manifests: readonly ManifestFile[]): Promise<readonly Merged[]> {
    const merged: Merged[] = [];
    for (const bin of this.bins(manifests, writer.snapshotId)) {
      const made = await writer.rewrite(bin, 'existing').catch(unlessTooMuch);
      if (made !== null) merged.push({ sources: new Set(bin.map(({ path }) => path)), manifests: made.manifests });
    }
    return merged;
  }

  #isSmall({ content, addedSnapshotId, lengthBytes, path }: ManifestFile, snapshotId: bigint | null): boolean {
    return (
      content === 'data' &&
      addedSnapshotId !== snapshotId &&
      lengthBytes < this.#targetBytes / 2 &&
      this.#isAllowed(path)
    );
  }
}

/** Merges whatever can be, also few manifests, and also of a table that forbids it to other commits. */
export const mergeAllManifests = (
  properties: Readonly<Record<string, string>>,
  allowedRoots: readonly string[],
  targetBytes: number,
): ManifestMerging =>
  new ManifestMerging(
    { ...properties, 'commit.manifest-merge.enabled': 'true', 'commit.manifest.min-count-to-merge': '2' },
    allowedRoots,
    targetBytes,
  );

/** Divides manifests into runs of about `targetBytes` together; a run of one is left out. */
function binsOf(manifests: readonly ManifestFile[], targetBytes: number): readonly Bin[] {
  const made: Bin[] = [];
  let bytes = 0;
  for (const manifest of manifests) {
    const bin = made.at(-1);
    const fits = bin !== undefined && bytes + manifest.lengthBytes <= targetBytes;
    if (fits) bin.push(manifest);
    else made.push([manifest]);
    bytes = (fits ? bytes : 0) + manifest.lengthBytes;
  }
  return made.filter((bin) => bin.length > 1);
}
