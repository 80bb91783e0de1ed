import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import { parseJson, type Json } from '#shared/json.ts';
import { requireAction } from '../../authorization/decide.ts';
import type { CatalogContext } from '../../context.ts';
import { identOfJson } from '../../metadata/check-name.ts';
import { keepSources } from '../../store/postgres/table-source-store.ts';
import { findView, lockView, type StoragePlace, type ViewRow } from '../../store/postgres/view-store.ts';
import type { TableIdent } from '../../metadata/object-name.ts';
import type { UnitOfWork } from '../../store/postgres/transact.ts';
import type { TableTarget } from '../creation.ts';
import { asObject, get, requiredArray, requiredInt, requiredString } from '../../metadata/json-reader.ts';
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
export type ViewChange = {
  readonly catalog: string;
  readonly ident: TableIdent;
  /** Ids of the tables that the rows were made of. */
  readonly sources: readonly string[];
} & (
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
    sources: requiredArray(object, 'sources').map(readSource),
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

/** The id of a table, of its `LoadedTable.version`. */
function readSource(json: Json): string {
  const id = typeof json === 'string' ? json.slice(0, json.lastIndexOf('.')) : '';
  if (isUuid(id)) return id;
  throw new SkeinError('INVALID_REQUEST', 'a source of a view is the version of a table');
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
  const { sources } = change;
  return {
    transact: (work, answerOf) =>
      unit.transact(async (tx) => {
        const storage = await planned.storage(tx);
        const result = await work(tx);
        await planned.run(tx, storage).catch((error: unknown) => {
          throw error instanceof LostRace ? changed() : error;
        });
        await keepSources(tx, storage ?? planned.kept, sources);
        return result;
      }, answerOf),
  };
}

async function planChange(context: CatalogContext, change: ViewChange, claims: Principal): Promise<PlannedChange> {
  const { catalog, ident } = change;
  const target: TableTarget = { claims, catalog, ident };
  if (change.kind === 'create') {
    requireAction(claims, 'view.create', { kind: 'schema', catalog, namespace: ident.namespace });
    return { kept: null, ...(await planNewView(context, target, change.request, change.uuid)) };
  }
  const row = await findView(context.store.db, claims.tenant, catalog, ident);
  if (row === undefined) throw changed();
  if (change.kind === 'replace') {
    requireAction(claims, 'view.replace', { kind: 'view', catalog, ...ident });
    return { ...NOTHING, kept: row.storage, ...planNextView(context, row, change.commit) };
  }
  return { ...NOTHING, kept: row.storage, run: async (tx) => requireVersion(await lockView(tx, row.id), change) };
}

/** `kept` is the table of the view's rows when the change says nothing of it. */
type PlannedChange = Pick<PlannedView, 'run' | 'storage'> & { readonly kept: StoragePlace | null };

const NOTHING: PlannedChange = {
  kept: null,
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
