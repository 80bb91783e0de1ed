import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { parseJson, type Json } from '#shared/json.ts';
import { requireAction } from '../../authorization/decide.ts';
import type { CatalogContext } from '../../context.ts';
import { identOfJson } from '../../metadata/check-name.ts';
import { findView, lockView, type ViewRow } from '../../store/postgres/view-store.ts';
import type { TableIdent } from '../../metadata/object-name.ts';
import type { UnitOfWork } from '../../store/postgres/transact.ts';
import type { TableTarget } from '../creation.ts';
import { asObject, get, requiredInt, requiredString } from '../../metadata/json-reader.ts';
import { LostRace, planNewView, planNextView, type PlannedView } from './commit-view.ts';
import type { ViewMetadata } from '../../metadata/view/view-metadata.ts';
import {
  parseCreateView,
  parseViewCommit,
  type CreateViewRequest,
  type ViewCommit,
} from '../../metadata/view/view-request.ts';

/**
 * The change that a commit makes to the materialized view of the table that it writes, in the same transaction. `create`: the view comes with its rows;
 * `replace`: its query changes with them; `keep`: the rows are those of this version of the view.
 */
export type ViewChange = { readonly catalog: string; readonly ident: TableIdent } & (
  | { readonly kind: 'create'; readonly uuid: string; readonly request: CreateViewRequest }
  | { readonly kind: 'replace'; readonly commit: ViewCommit }
  | { readonly kind: 'keep'; readonly uuid: string; readonly versionId: number }
);

/** @throws INVALID_REQUEST */
export function readViewChange(json: Json | undefined): ViewChange | undefined {
  if (json === undefined) return undefined;
  const object = asObject(json, 'view change');
  const identifier = get(object, 'identifier');
  const place = {
    ident: identOfJson(identifier, 'identifier'),
    catalog: requiredString(asObject(identifier, 'identifier'), 'catalog'),
  };
  const kind = requiredString(object, 'action');
  switch (kind) {
    case 'create':
      return { ...place, kind, uuid: requiredString(object, 'uuid'), request: parseCreateView(get(object, 'view')) };
    case 'replace':
      return { ...place, kind, commit: parseViewCommit(get(object, 'view')) };
    case 'keep':
      return { ...place, kind, uuid: requiredString(object, 'uuid'), versionId: requiredInt(object, 'version-id') };
    default:
      throw new SkeinError('INVALID_REQUEST', `Unsupported view change: ${kind}`);
  }
}

/**
 * A unit that makes the change of a view together with the work. The view's row is written last: commits take their locks in the same
 * order, names behind tables.
 * @throws FORBIDDEN, ALREADY_EXISTS, COMMIT_CONFLICT when the view is another by now
 */
export async function viewUnit(
  context: CatalogContext,
  unit: UnitOfWork,
  change: ViewChange | undefined,
  claims: Principal,
): Promise<UnitOfWork> {
  if (change === undefined) return unit;
  const planned = await planChange(context, change, claims);
  return {
    transact: (work, answerOf) =>
      unit.transact(async (tx) => {
        const storage = await planned.storage(tx);
        const result = await work(tx);
        await planned.run(tx, storage).catch((error: unknown) => {
          throw error instanceof LostRace ? changed() : error;
        });
        return result;
      }, answerOf),
  };
}

async function planChange(
  context: CatalogContext,
  change: ViewChange,
  claims: Principal,
): Promise<Pick<PlannedView, 'run' | 'storage'>> {
  const { catalog, ident } = change;
  const target: TableTarget = { claims, catalog, ident };
  if (change.kind === 'create') {
    requireAction(claims, 'view.create', { kind: 'schema', catalog, namespace: ident.namespace });
    return planNewView(context, target, change.request, change.uuid);
  }
  const row = await findView(context.store.db, claims.tenant, catalog, ident);
  if (row === undefined) throw changed();
  if (change.kind === 'replace') {
    requireAction(claims, 'view.replace', { kind: 'view', catalog, ...ident });
    return planNextView(context, row, change.commit) ?? NOTHING;
  }
  return { ...NOTHING, run: async (tx) => requireVersion(await lockView(tx, row.id), change) };
}

const NOTHING: Pick<PlannedView, 'run' | 'storage'> = {
  run: () => Promise.resolve(),
  storage: () => Promise.resolve(null),
};

function requireVersion(
  row: Pick<ViewRow, 'metadata'> | undefined,
  { uuid, versionId }: { readonly uuid: string; readonly versionId: number },
): void {
  const metadata = row === undefined ? undefined : (parseJson(row.metadata) as unknown as ViewMetadata);
  if (metadata?.['view-uuid'] !== uuid || metadata['current-version-id'] !== versionId) throw changed();
}

const changed = (): SkeinError =>
  new SkeinError('COMMIT_CONFLICT', 'Requirement failed: the materialized view was changed or dropped meanwhile');
