import type { Config } from '#shared/config/config-schema.ts';
import { maskSecrets } from '#shared/mask-secrets.ts';
import type { PreparedStatement } from './prepared-statement.ts';
import { findSetting, type SettingName, type SettingValues } from './settings.ts';

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

/** @throws SETTING_NOT_FOUND, INVALID_REQUEST for a value that is not valid. */
export function withSetting(state: SessionState, name: string, value: string, config: Config): SessionState {
  const known = findSetting(name);
  const parsed = known.parse(maskSecrets(value), config);
  return { ...state, settings: new Map([...state.settings, [known.name, parsed]]) };
}

/** `name` null resets every setting. @throws SETTING_NOT_FOUND */
export function withoutSetting(state: SessionState, name: string | null): SessionState {
  if (name === null) return { ...state, settings: new Map() };
  const { name: known } = findSetting(name);
  return { ...state, settings: new Map([...state.settings].filter(([key]) => key !== known)) };
}

export const setting = (state: SessionState, name: SettingName, config: Config): string =>
  shownSetting(state, name, config);

/** The value of a setting of ours, or of Postgres. @throws SETTING_NOT_FOUND */
export function shownSetting({ settings }: SessionState, name: string, config: Config): string {
  const known = findSetting(name);
  return settings.get(known.name) ?? known.default(config);
}

/** The value of a session's `statement_timeout` in ms; undefined = none. */
export function statementTimeoutMs(state: SessionState, config: Config): number | undefined {
  const ms = Number(shownSetting(state, 'statement_timeout', config));
  return ms === 0 ? undefined : ms;
}
