import { parseJson } from '#shared/json.ts';
import type { CatalogContext } from '../context.ts';
import { runDocumentTask } from '../metadata/document-task.ts';
import { TABLE_FACTS, viewFacts, type RelationFacts } from '../metadata/relation-facts.ts';
import type { ViewMetadata } from '../metadata/view/view-metadata.ts';
import { keepFacts, listStale, readRelation, type Stale } from '../store/postgres/relation-store.ts';

type Parts = Pick<CatalogContext, 'store' | 'readers' | 'documents' | 'log'>;

/** The owner of work that no tenant asked for. */
const NOBODY = 'catalog';

/** Facts of a table or view that are made of its document, and kept; undefined when it is gone. */
export function freshFacts({ store, readers, documents }: Parts, stale: Stale): Promise<RelationFacts | undefined> {
  return documents.run(NOBODY, stale.bytes, async () => {
    const found = await readRelation(store.pool, stale);
    if (found === undefined) return undefined;
    const about = { bytes: stale.bytes, owner: NOBODY, what: `the metadata of ${stale.table} ${stale.id}` };
    const facts =
      stale.table === 'iceberg_view'
        ? viewFacts(parseJson(found.metadata) as unknown as ViewMetadata)
        : await runDocumentTask(readers, TABLE_FACTS, found.metadata, about);
    await keepFacts(store.pool, { ...stale, version: found.version }, facts);
    return facts;
  });
}

const STALE_AT_ONCE = 100;

/** Makes the facts of all tables and views that have none, or those of another version. Ends with the signal. */
export async function fillFacts(parts: Parts, signal: AbortSignal): Promise<void> {
  let after: string | null = null;
  while (!signal.aborted) {
    const stale = await listStale(parts.store.pool, after, STALE_AT_ONCE);
    for (const one of stale) {
      if (signal.aborted) return;
      await freshFacts(parts, one).catch((error: unknown) => {
        parts.log.warn({ err: error, table: one.table, id: one.id }, 'the facts of a table or view were not made');
      });
    }
    after = stale.at(-1)?.id ?? null;
    if (stale.length < STALE_AT_ONCE) return;
  }
}
