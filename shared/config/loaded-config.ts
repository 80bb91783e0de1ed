import type { Config, ConfigKey } from './config-schema.ts';

export type LoadedConfig = {
  readonly config: Config;
  /** Where each value comes from: `default`, `file <path>`, `environment <name>`, `flag <flag>`, `computed`. */
  readonly sources: Readonly<Record<ConfigKey, string>>;
};
