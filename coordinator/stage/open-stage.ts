import { SkeinError } from '#shared/error.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { Stage, StageName } from '../catalog-client/stage-catalog.ts';
import type { NameFinder } from '../session/current-names.ts';
import type { SessionState } from '../session/session.ts';
import { printStage, type StageReference } from './stage-reference.ts';

/** The caller that asks for a stage, and its session. */
export type StageAsker = {
  readonly caller: Caller;
  readonly session: SessionState;
  readonly names: NameFinder;
  readonly catalog: Pick<CatalogClient, 'stages'>;
};

/**
 * The stage that a reference names, for its files to be read or written.
 * @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, STAGE_NOT_FOUND, FORBIDDEN; each with the position
 */
export async function openStage(
  reference: Pick<StageReference, 'name' | 'position'>,
  action: 'stage.read' | 'stage.write',
  asker: StageAsker,
): Promise<Stage> {
  const { position } = reference;
  try {
    return await asker.catalog.stages.open(asker.caller.claims, action, await stageName(reference, asker));
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    if (error.code === 'STAGE_NOT_FOUND') {
      throw new SkeinError('STAGE_NOT_FOUND', `stage ${printStage(reference)} does not exist`, { position });
    }
    if (!NAMED.has(error.code)) throw error;
    throw error.at(position);
  }
}

const NAMED: ReadonlySet<string> = new Set(['CATALOG_NOT_FOUND', 'SCHEMA_NOT_FOUND']);

/** The name with the catalog and the schema as they are stored. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function stageName(
  { name }: Pick<StageReference, 'name'>,
  { caller, session, names }: Omit<StageAsker, 'catalog'>,
): Promise<StageName> {
  const current = await names.current(caller, session);
  const [last = '', schema, inCatalog] = name?.toReversed() ?? [];
  const catalog = inCatalog === undefined ? current.catalog : await names.catalog(caller, inCatalog);
  if (catalog === '') throw new SkeinError('CATALOG_NOT_FOUND', 'there is no catalog');
  if (name === null) return { catalog, of: null };
  const wanted = schema ?? current.schema.join('.');
  const namespace = await names.schema(caller.claims, catalog, wanted);
  if (namespace === undefined) {
    throw new SkeinError('SCHEMA_NOT_FOUND', `schema ${catalog}.${wanted} does not exist`);
  }
  return { catalog, of: { namespace, name: last } };
}
