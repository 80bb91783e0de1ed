import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { mayDo, requireAction, type Caller } from '../auth/authenticate.ts';
import type { SessionServices } from './session-services.ts';
import type { SessionKey } from './session-store.ts';
import { PATH_SETTINGS, pathValues, readPath, SEARCH_PATH } from './search-path.ts';
import { findSetting } from './settings.ts';
import {
  ownValue,
  shownSetting,
  withoutSetting,
  withoutValues,
  atPlace,
  withSetting,
  withValues,
  type SettingScope,
  type SessionState,
} from './session.ts';

export type SessionChange = (state: SessionState) => SessionState;

/** Another catalog of a session; null = the default. @throws CATALOG_NOT_FOUND, FORBIDDEN */
export async function catalogChange(
  { names }: Pick<SessionServices, 'names'>,
  { caller }: { readonly caller: Caller },
  name: string | null,
): Promise<SessionChange> {
  requireAction(caller, 'catalog.use');
  const catalog = name === null ? null : await names.catalog(caller, name);
  return (now) => atPlace(now, { catalog, schema: null });
}

/** Another schema of a session, in its catalog; null = the default. @throws SCHEMA_NOT_FOUND, FORBIDDEN */
export async function schemaChange(
  { names, store }: Pick<SessionServices, 'names' | 'store'>,
  { caller, session }: { readonly caller: Caller; readonly session: SessionKey },
  name: string | null,
): Promise<SessionChange> {
  requireAction(caller, 'schema.use');
  if (name === null) return (now) => atPlace(now, { schema: null });
  const { catalog } = await names.current(caller, store.get(session));
  const schema = catalog === '' ? undefined : await names.schema(caller.claims, catalog, name);
  if (schema === undefined) throw new SkeinError('SCHEMA_NOT_FOUND', `schema ${name.slice(0, 200)} does not exist`);
  return (now) => atPlace(now, { schema });
}

type Asking = { readonly caller: Caller; readonly state: SessionState; readonly config: Config };
type NewValue = {
  readonly name: string;
  /** Null = that with which the session began. */
  readonly value: string | null;
  readonly scope: SettingScope;
};

/** Another value of a setting. @throws SETTING_NOT_FOUND, INVALID_REQUEST */
export async function settingChange(
  { names }: Pick<SessionServices, 'names'>,
  { caller, state, config }: Asking,
  { name, value, scope }: NewValue,
): Promise<SessionChange> {
  const known = findSetting(name).name;
  if (value === null && scope !== 'local') {
    if (known !== SEARCH_PATH) return (now) => withoutSetting(now, known);
    return (now) => ({ ...withoutValues(now, PATH_SETTINGS), schema: null });
  }
  // Until the transaction ends, the value is that with which the session began.
  const given = value ?? ownValue({ ...state, local: new Map(), settings: new Map() }, known);
  const text = given ?? shownSetting({ ...state, local: new Map(), settings: new Map(), schema: null }, known, config);
  if (known !== SEARCH_PATH) return (now) => withSetting(now, known, text, config, scope);
  const found = await firstSchema(names, { caller, state }, readPath(text));
  return (now) => withValues(now, scope, pathValues(text, found));
}

/** The levels of the first schema that exists; null = none does. */
async function firstSchema(
  names: SessionServices['names'],
  { caller, state }: Pick<Asking, 'caller' | 'state'>,
  path: readonly string[],
): Promise<readonly string[] | null> {
  const { catalog } = await names.current(caller, state);
  if (catalog === '' || !mayDo(caller, 'schema.use')) return null;
  for (const name of path) {
    const found = await names.schema(caller.claims, catalog, name);
    if (found !== undefined) return found;
  }
  return null;
}
