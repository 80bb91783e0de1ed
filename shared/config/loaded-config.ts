import type { Config, ConfigKey } from './config-schema.ts';

export type LoadedConfig = {
  readonly config: Config;
  /** The source of each value: `default`, `file <path>`, `environment <name>`, `flag <flag>`, `computed`. */
  readonly sources: Readonly<Record<ConfigKey, string>>;
};
