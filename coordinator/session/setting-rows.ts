import type { Config } from '#shared/config/config-schema.ts';
import type { MadeValue } from '#shared/made-type.ts';
import { POSTGRES_SETTINGS } from './postgres-settings.ts';
import { isOwnName, isSetting, SETTINGS } from './settings.ts';
import { allSettings, ownValue, type SessionState } from './session.ts';

/** Names that Postgres spells with capitals in `pg_settings`. */
const SPELLED: Readonly<Record<string, string>> = {
  datestyle: 'DateStyle',
  intervalstyle: 'IntervalStyle',
  timezone: 'TimeZone',
};

/** The rows of `pg_settings`: every setting that SHOW knows, with the value that it shows. */
export const settingRows = (state: SessionState, config: Config): readonly Readonly<Record<string, MadeValue>>[] =>
  Object.entries(allSettings(state, config)).map(([name, setting]) => {
    const own = isSetting(name) ? SETTINGS[name] : undefined;
    const known = own ?? POSTGRES_SETTINGS.get(name);
    const first = known?.default(config) ?? setting;
    const isSaid = known !== undefined && 'isSaid' in known;
    return {
      name: SPELLED[name] ?? name,
      setting,
      unit: name.endsWith('_timeout') && /^\d+$/.test(first) ? 'ms' : null,
      category: isOwnName(name) ? 'Customized Options' : own === undefined ? 'Client Connection Defaults' : 'Skein',
      short_desc: own?.doc ?? '',
      context: isSaid ? 'internal' : 'user',
      vartype: typeOf(first),
      source: ownValue(state, name) === undefined ? 'default' : 'session',
      boot_val: first,
      reset_val: state.initial.get(name) ?? first,
      pending_restart: false,
    };
  });

const typeOf = (value: string): string =>
  value === 'on' || value === 'off' ? 'bool' : /^-?\d+$/.test(value) ? 'integer' : 'string';
