import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { maskSecrets } from '#shared/mask-secrets.ts';
import type { PreparedStatement } from './prepared-statement.ts';
import { PATH_SETTINGS, SEARCH_PATH, shownPath } from './search-path.ts';
import {
  findSetting,
  isOwnName,
  settingNames,
  settingNotFound,
  type SettingName,
  type SettingValues,
} from './settings.ts';

/**
 * The state that statements of one client share. Every change replaces it as a whole, so a running statement keeps the state it began with.
 */
export type SessionState = {
  /** Current catalog; null = the tenant's default. */
  readonly catalog: string | null;
  /** Levels of the current schema; null = the default. */
  readonly schema: readonly string[] | null;
  /** The one role that functions see; null = all that are granted. It changes no right. */
  readonly role: string | null;
  readonly settings: SettingValues;
  /** Settings of SET LOCAL, which end with their transaction. */
  readonly local: SettingValues;
  /** The values that settings have after RESET, where the client has begun the session with some. */
  readonly initial: SettingValues;
  /** Prepared statements by their folded names. */
  readonly prepared: ReadonlyMap<string, PreparedStatement>;
};

export const EMPTY_SESSION: SessionState = {
  catalog: null,
  schema: null,
  role: null,
  settings: new Map(),
  local: new Map(),
  initial: new Map(),
  prepared: new Map(),
};

/** Whether the session is like a new one. */
export const holdsNothing = ({ catalog, schema, role, settings, local, initial, prepared }: SessionState): boolean =>
  catalog === null &&
  schema === null &&
  role === null &&
  [settings, local, initial, prepared].every(({ size }) => size === 0);

/** About how much memory its prepared statements take. */
export const preparedBytes = ({ prepared }: SessionState): number =>
  prepared.values().reduce((bytes, statement) => bytes + statement.bytes, 0);

/** How long a value of a setting holds: until the session ends, or its transaction; `initial`: as the client has begun the session. */
export type SettingScope = 'session' | 'local' | 'initial';

/** The value that the session has given a setting, by its folded name; undefined = none: the default holds. */
export const ownValue = (
  { local, settings, initial }: Pick<SessionState, 'local' | 'settings' | 'initial'>,
  name: string,
): string | undefined => local.get(name) ?? settings.get(name) ?? initial.get(name);

/** @throws TOO_MANY_PREPARED_STATEMENTS when the session takes no further one */
export function requirePreparedRoom({ prepared }: SessionState, config: Config): void {
  const max = config['coordinator.prepared_statements_max'];
  if (prepared.size < max) return;
  throw new SkeinError('TOO_MANY_PREPARED_STATEMENTS', `the session has ${max} prepared statements: DEALLOCATE some`);
}

/** @throws TOO_MANY_PREPARED_STATEMENTS */
export function withPrepared(state: SessionState, prepared: PreparedStatement, config: Config): SessionState {
  requirePreparedRoom(state, config);
  return { ...state, prepared: new Map([...state.prepared, [prepared.name, prepared]]) };
}

/** @param name folded; null = all */
export const withoutPrepared = (state: SessionState, name: string | null): SessionState => ({
  ...state,
  prepared: new Map([...state.prepared].filter(([other]) => name !== null && other !== name)),
});

/** @throws SETTING_NOT_FOUND, INVALID_REQUEST for a value that is not valid, or too many settings of the client's own names. */
export function withSetting(
  state: SessionState,
  name: string,
  value: string,
  config: Config,
  scope: SettingScope = 'session',
): SessionState {
  const known = findSetting(name);
  return withValues(state, scope, [[known.name, known.parse(maskSecrets(value), config)]]);
}

/** @throws INVALID_REQUEST for too many settings of the client's own names */
export function withValues(
  state: SessionState,
  scope: SettingScope,
  values: readonly (readonly [name: string, value: string])[],
): SessionState {
  const names = new Set(values.map(([name]) => name));
  const more = (now: SettingValues): SettingValues => new Map([...now, ...values]);
  if (scope === 'local') return checked({ ...state, local: more(state.local) });
  const local = without(state.local, names);
  if (scope === 'initial') return checked({ ...state, initial: more(state.initial), local });
  return checked({ ...state, settings: more(state.settings), local });
}

/** Settings of names that are the client's own, in one session. */
const OWN_NAMES_MAX = 100;

function checked(state: SessionState): SessionState {
  const names = new Set([state.settings, state.local, state.initial].flatMap((values) => [...values.keys()]));
  if ([...names].filter(isOwnName).length <= OWN_NAMES_MAX) return state;
  throw new SkeinError('INVALID_REQUEST', `a session has at most ${OWN_NAMES_MAX} settings of names that are its own`);
}

const without = (values: SettingValues, names: ReadonlySet<string>): SettingValues =>
  new Map([...values].filter(([name]) => !names.has(name)));

/** Brings back the value with which the session began. `name` null: of every setting. @throws SETTING_NOT_FOUND */
export function withoutSetting(state: SessionState, name: string | null): SessionState {
  if (name === null) return { ...state, settings: new Map(), local: new Map() };
  return withoutValues(state, [findSetting(name).name]);
}

export function withoutValues(state: SessionState, names: readonly string[]): SessionState {
  const gone = new Set(names);
  return { ...state, settings: without(state.settings, gone), local: without(state.local, gone) };
}

/** Another catalog or schema, in place of those of a path. */
export const atPlace = (
  state: SessionState,
  place: Partial<Pick<SessionState, 'catalog' | 'schema'>>,
): SessionState => ({ ...withoutValues(state, PATH_SETTINGS), ...place });

export const setting = (state: SessionState, name: SettingName, config: Config): string =>
  shownSetting(state, name, config);

/** The value of a setting of ours, or of Postgres. @throws SETTING_NOT_FOUND, also for one of the client's own names that it has not set */
export function shownSetting(state: SessionState, name: string, config: Config): string {
  const known = findSetting(name);
  const own = known.name === SEARCH_PATH ? shownPath(state) : ownValue(state, known.name);
  if (own !== undefined) return own;
  if (isOwnName(known.name)) throw settingNotFound(name);
  return known.default(config);
}

/** Every setting that the session knows with its value, by its folded name. */
export function allSettings(state: SessionState, config: Config): Readonly<Record<string, string>> {
  const own = [state.initial, state.settings, state.local].flatMap((values) => [...values.keys()]).filter(isOwnName);
  const names = new Set([...settingNames(), ...own]);
  return Object.fromEntries([...names].map((name) => [name, shownSetting(state, name, config)]));
}

/** The value of a session's `statement_timeout` in ms; undefined = none. */
export function statementTimeoutMs(state: SessionState, config: Config): number | undefined {
  const ms = Number(shownSetting(state, 'statement_timeout', config));
  return ms === 0 ? undefined : ms;
}

/** Whether transactions and single statements of the session may write, unless a BEGIN says otherwise. */
export const mayWriteByDefault = (state: SessionState, config: Config): boolean =>
  shownSetting(state, 'default_transaction_read_only', config) === 'off';
