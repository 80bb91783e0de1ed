import { readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { CONFIG, defaultConfig, type Config, type ConfigKey } from './config-schema.ts';
import { checkConfig } from './check-config.ts';
import type { LoadedConfig } from './loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { didYouMean, nearestName } from '#shared/nearest-name.ts';

/** A setting given by a flag; `flag` is the user's text, for error messages. */
export type FlagSetting = { readonly key: string; readonly text: string; readonly flag: string };

export type LoadOptions = {
  readonly flags?: readonly FlagSetting[];
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly workingDir?: string;
  /** Path of a file that replaces `skein.yaml` of the working directory; it must exist. */
  readonly file?: string | undefined;
};

const FILE_NAME = 'skein.yaml';
/** Maximum size of a configuration file. */
const FILE_BYTES_MAX = 2 ** 20;
const PREFIX = 'SKEIN_';
const CONFIG_FILE_VARIABLE = 'SKEIN_CONFIG';
/** Names that other software uses for the same setting; ours wins over them. */
const ALIASES: Readonly<Record<string, ConfigKey>> = {
  DATABASE_URL: 'database.url',
  ETCD_ENDPOINTS: 'cluster.etcd_endpoints',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'traces.otlp_endpoint',
};

/**
 * Settings of earlier releases, with the setting that now bounds the same thing. They are not ignored silently, because that would lift a
 * limit that an operator set.
 */
const RETIRED: Readonly<Record<string, ConfigKey>> = {
  'coordinator.queries_running_max': 'coordinator.workload_file',
  'coordinator.queries_queued_max': 'coordinator.workload_file',
  'catalog.token_chain_max': 'catalog.refresh_token_ttl',
};

const KEYS = Object.keys(CONFIG) as ConfigKey[];
const isKey = (key: string): key is ConfigKey => Object.hasOwn(CONFIG, key);

/** `worker.memory_limit` -> `SKEIN_WORKER_MEMORY_LIMIT`. */
const variableOf = (key: string): string => PREFIX + key.toUpperCase().replaceAll('.', '_');
const KEY_OF_VARIABLE = new Map<string, ConfigKey>(KEYS.map((key) => [variableOf(key), key]));

type Setting = { readonly key: ConfigKey; readonly text: string; readonly source: string };

/**
 * Loads the configuration of a process. Layers, later ones win: defaults, `skein.yaml` of the working directory (or the file that
 * `SKEIN_CONFIG` or `--config` names), `skein.yaml` of the data directory, `SKEIN_*` environment, flags. An unknown key in any of them is
 * an error. An empty variable counts as absent. Only this function reads the environment of the process.
 * @throws INVALID_CONFIGURATION: an unknown key (with the nearest one), a value that does not parse, values that contradict.
 */
export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const environment = options.environment ?? process.env;
  const workingDir = options.workingDir ?? process.cwd();
  const flags = (options.flags ?? []).map(flagSetting);
  const variables = environmentSettings(environment);
  const named = options.file ?? (environment[CONFIG_FILE_VARIABLE] || undefined);
  const first = fileSettings(resolve(workingDir, named ?? FILE_NAME), named !== undefined);

  const dataDirText = [...first, ...variables, ...flags].findLast(({ key }) => key === 'data_dir')?.text;
  const dataDir = resolve(workingDir, dataDirText ?? CONFIG.data_dir.default);
  const ownPath = join(dataDir, FILE_NAME);
  const own = ownPath === resolve(workingDir, named ?? FILE_NAME) ? [] : fileSettings(ownPath, false);
  if (own.some(({ key }) => key === 'data_dir')) {
    throw invalid(`${ownPath} lies in the data directory and cannot name another one (data_dir)`);
  }

  const values: Record<string, unknown> = { ...defaultConfig() };
  const sources = Object.fromEntries(KEYS.map((key) => [key, 'default'])) as Record<ConfigKey, string>;
  for (const { key, text, source } of [...first, ...own, ...variables, ...flags]) {
    values[key] = parsed(key, text, source);
    sources[key] = source;
  }
  values['data_dir'] = dataDir;
  return checkConfig({ config: values as Config, sources });
}

/**
 * Returns the environment of a child service: ours without its `SKEIN_*` settings, plus every setting of `loaded` that is not a default, so
 * that no configuration file of the child overrides them.
 */
export function childEnvironment(
  { config, sources }: LoadedConfig,
  extra: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith(PREFIX) && !(name in ALIASES));
  const changed = (key: ConfigKey): boolean =>
    sources[key] !== 'default' || settingText(config[key]) !== settingText(CONFIG[key].default);
  const settings = KEYS.filter(changed).map((key) => [variableOf(key), settingText(config[key])]);
  return {
    ...Object.fromEntries(inherited),
    ...Object.fromEntries(settings),
    [CONFIG_FILE_VARIABLE]: devNull,
    ...extra,
  };
}

/** Prints a value as text that its key parses. */
export const settingText = (value: Config[ConfigKey]): string =>
  typeof value === 'object' ? value.join(',') : String(value);

function flagSetting({ key, text, flag }: FlagSetting): Setting {
  if (!isKey(key)) throw unknown('setting', key, `flag ${flag}`, KEYS);
  return { key, text, source: `flag ${flag}` };
}

function environmentSettings(environment: Readonly<Record<string, string | undefined>>): readonly Setting[] {
  const settings: Setting[] = [];
  for (const [name, key] of Object.entries(ALIASES)) {
    const text = environment[name];
    if (text !== undefined && text !== '') settings.push({ key, text, source: `environment ${name}` });
  }
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || name === CONFIG_FILE_VARIABLE) continue;
    const key = KEY_OF_VARIABLE.get(name);
    if (key === undefined) throw unknown('variable', name, 'the environment', KEY_OF_VARIABLE.keys());
    if (text !== undefined && text !== '') settings.push({ key, text, source: `environment ${name}` });
  }
  return settings;
}

function fileSettings(path: string, mustExist: boolean): readonly Setting[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if ((code === 'ENOENT' || code === 'ENOTDIR') && !mustExist) return [];
    throw invalid(`cannot read ${path}: ${code ?? 'unknown error'}`, cause);
  }
  if (text.length > FILE_BYTES_MAX) throw invalid(`${path} is larger than ${FILE_BYTES_MAX} bytes`);
  let document: unknown;
  try {
    // Scalars stay text: each key parses its own, so `8e3` or `1_000` never turn into something else on the way.
    document = parse(text, { schema: 'failsafe' });
  } catch (cause) {
    throw invalid(`${path} is not valid YAML: ${(cause as Error).message.split('\n')[0] ?? ''}`, cause);
  }
  if (document === null || document === '') return [];
  return flatten(document, '', path);
}

/** Flattens `{worker: {cores: 2}}` and `{'worker.cores': 2}` to the same settings. */
function flatten(node: unknown, path: string, file: string): readonly Setting[] {
  const source = `file ${file}`;
  if (isKey(path)) {
    if (typeof node === 'string') return node === '' ? [] : [{ key: path, text: node, source }];
    if (Array.isArray(node) && CONFIG[path].type === 'list' && node.every((item) => typeof item === 'string')) {
      return [{ key: path, text: node.join(','), source }];
    }
    if (CONFIG[path].type === 'map' && node !== null && typeof node === 'object' && !Array.isArray(node)) {
      return [{ key: path, text: JSON.stringify(node), source }];
    }
    throw invalid(`${path} in ${file}: expected a ${CONFIG[path].type}`);
  }
  if (node !== null && typeof node === 'object' && !Array.isArray(node)) {
    return Object.entries(node).flatMap(([name, child]) =>
      flatten(child, path === '' ? name : `${path}.${name}`, file),
    );
  }
  if (path === '') throw invalid(`${file}: expected keys and values`);
  // A group without members (`worker:`) sets nothing.
  if (node === '' && KEYS.some((key) => key.startsWith(`${path}.`))) return [];
  throw unknown('setting', path, file, KEYS);
}

function parsed(key: ConfigKey, text: string, source: string): unknown {
  try {
    return CONFIG[key].parse(text);
  } catch (cause) {
    const why = CONFIG[key].secret ? 'the value is not valid' : SkeinError.of(cause).message;
    throw invalid(`${key} (${source}): ${why}`, cause);
  }
}

function unknown(what: string, name: string, where: string, names: Iterable<string>): SkeinError {
  const retired = Object.entries(RETIRED).find(([key]) => name === key || name === variableOf(key));
  if (retired !== undefined) return invalid(`${name} in ${where} is no longer a setting: set ${retired[1]} instead`);
  return invalid(`unknown ${what} ${name} in ${where}${didYouMean(nearestName(name, names))}`);
}

const invalid = (message: string, cause?: unknown): SkeinError =>
  new SkeinError('INVALID_CONFIGURATION', message, { cause });
