import { PARTITIONS_MAX } from '#shared/task/task.ts';
import { type Config } from '#shared/config/config-schema.ts';
import { parseBytes, parseDuration } from '#shared/config/parse-setting.ts';
import { SkeinError } from '#shared/error.ts';
import { didYouMean, nearestName } from '#shared/nearest-name.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { timeZoneOf } from '#shared/sql/time-zones.ts';
import { keptSetting, POSTGRES_SETTINGS } from './postgres-settings.ts';

/** A setting that SET, RESET and SHOW know. Values are kept as the text that SHOW answers. */
type Setting = {
  readonly type: 'text' | 'integer' | 'bytes' | 'duration';
  readonly doc: string;
  readonly default: (config: Config) => string;
  /** The canonical text of a value; throws INVALID_REQUEST for one that is not valid. */
  readonly parse: (text: string, config: Config) => string;
};

export type SettingName = keyof typeof SETTINGS;

const invalid = (name: string, expected: string, text: string): SkeinError =>
  new SkeinError('INVALID_REQUEST', `${name} must be ${expected}, not ${JSON.stringify(text.slice(0, 100))}`);

const bounded = (name: string, parse: (text: string) => number, max: (config: Config) => number): Setting['parse'] => {
  return (text, config) => {
    let value: number;
    try {
      value = parse(text);
    } catch {
      throw invalid(name, parse === parseBytes ? 'a size such as 512MB' : 'a duration such as 30s', text);
    }
    if (value < 1 || value > max(config)) throw invalid(name, `from 1 to ${max(config)}`, text);
    return text.trim();
  };
};

const oneOf = (name: string, values: readonly string[]): Setting['parse'] => {
  const expected = `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
  return (text) => {
    const value = foldIdentifier(text.trim());
    if (values.includes(value)) return value;
    throw invalid(name, expected, text);
  };
};

export const SETTINGS = {
  timezone: {
    type: 'text',
    doc: 'Time zone in which timestamps with time zone are printed and cast',
    default: () => 'UTC',
    parse: (text) => {
      const zone = timeZoneOf(text);
      if (zone === undefined) throw invalid('timezone', 'a time zone of the IANA database', text);
      return zone;
    },
  },
  'service.workload_class': {
    type: 'text',
    doc: 'Workload class of the next queries: auto, interactive, medium or batch',
    default: () => 'auto',
    parse: (text) => {
      const name = foldIdentifier(text.trim());
      if (['auto', 'interactive', 'medium', 'batch'].includes(name)) return name;
      throw invalid('service.workload_class', 'interactive, medium, batch or auto', text);
    },
  },
  'service.resource_pool': {
    type: 'text',
    doc: 'Resource pool that routing rules match; empty = none',
    default: () => '',
    parse: (text) => {
      if (/^[\w.-]{0,128}$/.test(text)) return text;
      throw invalid('service.resource_pool', 'at most 128 letters, digits, dots, dashes and underscores', text);
    },
  },
  'skein.query_timeout': {
    type: 'duration',
    doc: 'Timeout of a query whose request names none',
    default: (config) => `${config['coordinator.query_timeout']}ms`,
    parse: bounded('skein.query_timeout', parseDuration, (config) => config['coordinator.query_timeout_max']),
  },
  'skein.query_memory_limit': {
    type: 'bytes',
    doc: 'Memory of one query on one worker',
    default: (config) => `${config['worker.query_memory_limit']}B`,
    parse: bounded('skein.query_memory_limit', parseBytes, (config) => config['worker.query_memory_limit']),
  },
  'skein.task_width': {
    type: 'text',
    doc: "Cores of each of a query's tasks: auto, narrow (one) or wide (all of its worker's)",
    default: () => 'auto',
    parse: oneOf('skein.task_width', ['auto', 'narrow', 'wide']),
  },
  'skein.distribution': {
    type: 'text',
    doc: 'Whether a query runs on several workers: auto, single (never) or force (whenever it can)',
    default: () => 'auto',
    parse: oneOf('skein.distribution', ['auto', 'single', 'force']),
  },
  'skein.join_distribution': {
    type: 'text',
    doc: 'How joins are distributed: auto, broadcast (the smaller side to every task) or partitioned (both sides by their keys)',
    default: () => 'auto',
    parse: oneOf('skein.join_distribution', ['auto', 'broadcast', 'partitioned']),
  },
  'skein.dynamic_filters': {
    type: 'text',
    doc: 'How scans are narrowed by the keys of join sides that have run: auto, bounds (bounds and short lists of keys only) or off',
    default: () => 'auto',
    parse: oneOf('skein.dynamic_filters', ['auto', 'bounds', 'off']),
  },
  'skein.policy_tasks': {
    type: 'text',
    doc: 'Which tasks apply the policies of a table: auto (that of the query, where it reads one table and computes plain values) or apart (always their own)',
    default: () => 'auto',
    parse: oneOf('skein.policy_tasks', ['auto', 'apart']),
  },
  'skein.partitions': {
    type: 'text',
    doc: 'Partitions of an exchange by keys; auto = chosen by size',
    default: () => 'auto',
    parse: (text) => {
      const value = foldIdentifier(text.trim());
      if (value === 'auto') return value;
      const number = /^\d{1,9}$/.test(value) ? Number(value) : 0;
      if (number >= 1 && number <= PARTITIONS_MAX) return String(number);
      throw invalid('skein.partitions', `auto, or from 1 to ${PARTITIONS_MAX}`, text);
    },
  },
  'skein.ddl_in_transaction': {
    type: 'text',
    doc: 'What becomes of a statement that a transaction cannot hold (DROP, RENAME, schemas, views): commit (while the transaction has changed nothing, it runs and is committed at once), refuse, or auto (commit over Flight SQL, refuse over HTTP)',
    default: () => 'auto',
    parse: oneOf('skein.ddl_in_transaction', ['auto', 'commit', 'refuse']),
  },
} as const satisfies Record<string, Setting>;

export const isSetting = (name: string): name is SettingName => Object.hasOwn(SETTINGS, foldIdentifier(name));

/** Whether SET, RESET and SHOW know it: one of ours, or of Postgres. */
export const isKnownSetting = (name: string): boolean => isSetting(name) || POSTGRES_SETTINGS.has(foldIdentifier(name));

/** A setting by its folded name; one of the client's own name is kept. @throws SETTING_NOT_FOUND for a name that is none */
export function findSetting(name: string): Pick<Setting, 'default' | 'parse'> & { readonly name: string } {
  const folded = foldIdentifier(name);
  if (isOwnName(folded)) return { name: folded, ...OWN };
  const found = isSetting(folded) ? SETTINGS[folded] : POSTGRES_SETTINGS.get(folded);
  if (found !== undefined) return { name: folded, default: found.default, parse: found.parse };
  throw settingNotFound(name);
}

export const settingNames = (): readonly string[] => [...Object.keys(SETTINGS), ...POSTGRES_SETTINGS.keys()];

export function settingNotFound(name: string): SkeinError {
  const near = didYouMean(nearestName(name, settingNames()));
  return new SkeinError('SETTING_NOT_FOUND', `unknown setting ${name.slice(0, 200)}${near}`);
}

const OWN_NAME = /^[a-z_][\w$]{0,62}(?:\.[a-z_][\w$]{0,62}){1,3}$/;

/** Whether a folded name is one that clients give to settings of their own: it has a dot, as Postgres wants it, and a prefix that is not ours. */
export const isOwnName = (folded: string): boolean => OWN_NAME.test(folded) && !/^(?:skein|service)\./.test(folded);

const OWN = keptSetting('the setting', '');

/** Settings that differ from their defaults. */
export type SettingValues = ReadonlyMap<string, string>;
