import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../context.ts';
import type { Tx } from '../../store/postgres/tables.ts';
import { transact, type UnitOfWork } from '../../store/postgres/transact.ts';
import { putRenamed, renamedView, writeFile, type WrittenView } from './commit-view.ts';
import { followNames, renamedViews, type Rename, type RenamedView } from './follow-names.ts';

/** Maximum number of concurrent deletions. */
const REMOVES_AT_ONCE = 20;

/** Makes a rename in a transaction; where it has to be, it calls `follow`, which makes the views follow. */
type Work = (tx: Tx, follow: (rename: Rename) => Promise<void>) => Promise<void>;

/**
 * Renames something, and makes the views of the tenant mean the same: a view that was made in what is renamed has its other names in the new way
 * from then on. Whoever makes something there waits for the transaction, and a store may be slow: so the files of the views are written before
 * it, once a rehearsal has found that nothing refuses the rename.
 * @throws the errors of `work` and `followNames`, STORAGE_ERROR, STORAGE_FULL
 */
export async function renameWithViews(context: CatalogContext, unit: UnitOfWork, work: Work): Promise<void> {
  const files = new RenamedFiles(context);
  const rename = await rehearse(context, work);
  let isUnknown = false;
  try {
    if (rename !== undefined) {
      for await (const page of renamedViews(context.store.db, rename)) await files.writeAhead(page);
    }
    await unit.transact((tx) => work(tx, (one) => followNames(tx, one, (renamed) => files.put(tx, renamed))));
    files.keepThosePut();
  } catch (error) {
    isUnknown = error instanceof SkeinError && error.code === 'COMMIT_STATE_UNKNOWN';
    throw error;
  } finally {
    // When nobody knows how the transaction has ended, views may have the files.
    if (!isUnknown) await files.removeRest();
  }
}

/** Does all that may refuse the rename, and undoes it. @returns the rename, unless no view follows */
async function rehearse({ store }: CatalogContext, work: Work): Promise<Rename | undefined> {
  const undone = new Error('a rehearsal is undone');
  let followed: Rename | undefined;
  try {
    await transact(store.db, async (tx) => {
      await work(tx, (rename) =>
        followNames(tx, rename, () => {
          followed = rename;
          return Promise.resolve();
        }),
      );
      throw undone;
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
  return followed;
}

/** The files of the documents that views get by a rename. */
class RenamedFiles {
  readonly #context: CatalogContext;
  /** By view: the file, and the version of the view for which it was written. */
  readonly #ahead = new Map<string, { readonly location: string; readonly version: number }>();
  /** Files that no view has. */
  readonly #rest = new Set<string>();
  readonly #put: string[] = [];

  constructor(context: CatalogContext) {
    this.#context = context;
  }

  async writeAhead(views: readonly RenamedView[]): Promise<void> {
    const results = await Promise.allSettled(
      views.map(async ({ view, next }) => {
        const { metadataLocation } = await this.#write(renamedView(this.#context, view, next));
        this.#ahead.set(view.id, { location: metadataLocation, version: view.version });
      }),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** Gives a locked view its document; the file is written here only when the view was made or changed since `writeAhead`. */
  async put(tx: Tx, { view, next }: RenamedView): Promise<void> {
    const ahead = this.#ahead.get(view.id);
    const document = renamedView(this.#context, view, next);
    const written =
      ahead?.version === view.version ? { ...document, metadataLocation: ahead.location } : await this.#write(document);
    await putRenamed(tx, view, written);
    this.#put.push(written.metadataLocation);
  }

  keepThosePut(): void {
    for (const location of this.#put) this.#rest.delete(location);
  }

  /** Where a file cannot be deleted, it and what is left are garbage, which is only logged: a store that is down is not waited for again. */
  async removeRest(): Promise<void> {
    const rest = [...this.#rest];
    for (let start = 0; start < rest.length; start += REMOVES_AT_ONCE) {
      const some = rest.slice(start, start + REMOVES_AT_ONCE);
      const results = await Promise.allSettled(some.map((location) => this.#remove(location)));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed === undefined) continue;
      const err = failed.reason as unknown;
      this.#context.log.warn({ err, files: rest.length }, 'files of views that were not renamed are left behind');
      return;
    }
  }

  async #remove(location: string): Promise<void> {
    await (await this.#context.storages.open(location)).remove([location]);
  }

  async #write(document: WrittenView): Promise<WrittenView> {
    this.#rest.add(document.metadataLocation);
    await writeFile(this.#context, document);
    return document;
  }
}
