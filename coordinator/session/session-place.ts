import { SkeinError } from '#shared/error.ts';
import { requireAction, type Caller } from '../auth/authenticate.ts';
import type { SessionServices } from './session-services.ts';
import type { SessionKey } from './session-store.ts';
import type { SessionState } from './session.ts';

export type SessionChange = (state: SessionState) => SessionState;

/** Another catalog of a session; null = the default. @throws CATALOG_NOT_FOUND, FORBIDDEN */
export async function catalogChange(
  { names }: Pick<SessionServices, 'names'>,
  { caller }: { readonly caller: Caller },
  name: string | null,
): Promise<SessionChange> {
  requireAction(caller, 'catalog.use');
  const catalog = name === null ? null : await names.catalog(caller, name);
  return (now) => ({ ...now, catalog, schema: null });
}

/** Another schema of a session, in its catalog; null = the default. @throws SCHEMA_NOT_FOUND, FORBIDDEN */
export async function schemaChange(
  { names, store }: Pick<SessionServices, 'names' | 'store'>,
  { caller, session }: { readonly caller: Caller; readonly session: SessionKey },
  name: string | null,
): Promise<SessionChange> {
  requireAction(caller, 'schema.use');
  if (name === null) return (now) => ({ ...now, schema: null });
  const { catalog } = await names.current(caller, store.get(session));
  const schema = catalog === '' ? undefined : await names.schema(caller.claims, catalog, name);
  if (schema === undefined) throw new SkeinError('SCHEMA_NOT_FOUND', `schema ${name.slice(0, 200)} does not exist`);
  return (now) => ({ ...now, schema });
}
