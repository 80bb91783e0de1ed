import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import { asObject, get, optionalArray, stringList, stringMap } from '../../../metadata/json-reader.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { updateNamespaceProperties } from '../../../store/postgres/namespace-store.ts';
import { checkProperties, namespaceOf } from '../../../metadata/check-name.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/properties`: 422 when a key is both to be set and to be removed. */
export async function updateProperties(
  _context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const path = namespaceOf(request.params['namespace'] ?? '');
  const body = asObject(request.body, 'update namespace properties request');
  const removals = new Set(stringList(optionalArray(body, 'removals') ?? [], 'removals'));
  const updates = stringMap(get(body, 'updates'), 'updates');
  const both = Object.keys(updates).filter((key) => removals.has(key));
  if (both.length > 0) {
    throw new SkeinError(
      'CONFLICTING_PROPERTIES',
      `Invalid namespace update, cannot simultaneously set and remove keys: ${both.join(', ')}`,
    );
  }
  let missing: string[] = [];
  await unit.transact(async (tx) => {
    const catalog = await requireCatalog(tx, request.claims.tenant, request.params['prefix'] ?? '');
    await updateNamespaceProperties(tx, catalog.id, path, (properties) => {
      missing = [...removals].filter((key) => !Object.hasOwn(properties, key));
      const kept = Object.entries(properties).filter(([key]) => !removals.has(key));
      const changed = { ...Object.fromEntries(kept), ...updates };
      checkProperties(changed);
      return changed;
    });
  });
  return ok({
    updated: Object.keys(updates),
    removed: [...removals].filter((key) => !missing.includes(key)),
    missing,
  });
}

/** Rebuilds the first answer from the request alone: `missing` is empty, because what was missing then is not known. */
export function updatePropertiesAgain(_context: CatalogContext, request: RestRequest): Promise<Answer> {
  const body = asObject(request.body, 'update namespace properties request');
  const removed = stringList(optionalArray(body, 'removals') ?? [], 'removals');
  const updated = Object.keys(stringMap(get(body, 'updates'), 'updates'));
  return Promise.resolve(ok({ updated, removed, missing: [] }));
}
