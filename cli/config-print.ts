import { CONFIG, type Config, type ConfigKey } from '#shared/config/config-schema.ts';
import { settingText } from '#shared/config/load-config.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { REDACTED, redactUrls } from '#shared/config/redact.ts';
import { SkeinError } from '#shared/error.ts';
import { findCluster, type ServicesFile } from './cluster-file.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { printTable } from './print-table.ts';

type Printed = { readonly value: Config[ConfigKey]; readonly source: string };

/** `skein config print`: every key, its value and its source, including the settings of the running cluster. */
export function configPrint(loaded: LoadedConfig, json: boolean): ExitCode {
  const printed = printedConfig(loaded, runningSettings(loaded.config.data_dir));
  if (json) {
    process.stdout.write(`${JSON.stringify(printed, null, 2)}\n`);
    return EXIT.ok;
  }
  const rows = Object.entries(printed).map(([key, { value, source }]) => [
    key,
    printValue(key as ConfigKey, value),
    source,
  ]);
  process.stdout.write(printTable(['key', 'value', 'source'], rows));
  return EXIT.ok;
}

/**
 * Maps each key to its value and source, with secrets replaced. A setting of the running cluster overrides defaults and the file, but not
 * the environment and the flags of this command, which are explicit.
 */
export function printedConfig(
  { config, sources }: LoadedConfig,
  running: ServicesFile['settings'],
): Readonly<Record<string, Printed>> {
  return Object.fromEntries(
    (Object.keys(CONFIG) as ConfigKey[]).map((key) => {
      const own = sources[key].startsWith('flag') || sources[key].startsWith('environment');
      const cluster = own ? undefined : running[key];
      const value = cluster === undefined ? config[key] : CONFIG[key].parse(cluster.text);
      return [key, { value: redacted(key, value), source: cluster?.source ?? sources[key] }];
    }),
  );
}

function runningSettings(dataDir: string): ServicesFile['settings'] {
  try {
    return findCluster(dataDir).services.settings;
  } catch (error) {
    if (SkeinError.of(error).code === 'NO_CLUSTER') return {};
    throw error;
  }
}

function redacted(key: ConfigKey, value: Config[ConfigKey]): Config[ConfigKey] {
  if (typeof value === 'number') return value;
  if (typeof value === 'object') return value.map(redactUrls);
  // A URL is printed with only its password hidden; other secrets are hidden completely.
  if (CONFIG[key].secret && !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return value === '' ? '' : REDACTED;
  return redactUrls(value);
}

const BYTES = [
  ['GiB', 2 ** 30],
  ['GB', 1e9],
  ['MiB', 2 ** 20],
  ['MB', 1e6],
  ['KiB', 2 ** 10],
  ['KB', 1e3],
] as const;
const DURATIONS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** Prints a value in the largest unit that keeps it exact; the configuration parses the text back to the same value. */
function printValue(key: ConfigKey, value: Config[ConfigKey]): string {
  const { type } = CONFIG[key];
  if (typeof value !== 'number' || type === 'integer') return settingText(value);
  const unit = (type === 'bytes' ? BYTES : DURATIONS).find(([, size]) => value !== 0 && value % size === 0);
  if (unit !== undefined) return `${value / unit[1]}${unit[0]}`;
  return type === 'bytes' ? String(value) : `${value}ms`;
}
