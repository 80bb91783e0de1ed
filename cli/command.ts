import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import type { ConfigKey } from '#shared/config/config-schema.ts';
import { loadConfig, type FlagSetting } from '#shared/config/load-config.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { nearestName } from '#shared/nearest-name.ts';
import { UsageError, type ExitCode } from './exit-code.ts';

/** One flag of a command. With `key` it sets that key of the configuration. */
export type Flag = {
  readonly name: string;
  readonly short?: string;
  /** Placeholder for the flag's value in the help; absent for a switch. */
  readonly value?: string;
  readonly doc: string;
  readonly key?: ConfigKey;
};

type CommandInput = {
  readonly loaded: LoadedConfig;
  readonly flags: Flags;
  readonly positionals: readonly string[];
};

export type Command = {
  /** One or two words: `status`, `config print`. */
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Names of the arguments, for the help; absent if the command takes none. */
  readonly positionals?: string;
  /** The command parses its own arguments, passed as positionals; only the flags of this table are removed from them. */
  readonly ownArguments?: boolean;
  readonly run: (input: CommandInput) => Promise<ExitCode>;
};

type FlagValues = Readonly<Record<string, string | boolean | readonly (string | boolean | undefined)[] | undefined>>;

/** The values of the flags as they were given. */
export class Flags {
  readonly #values: FlagValues;

  constructor(values: FlagValues) {
    this.#values = values;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    const last = Array.isArray(value) ? (value.at(-1) as unknown) : value;
    return typeof last === 'string' ? last : undefined;
  }

  texts(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }
}

const flag = (name: string, value: string, doc: string, key: ConfigKey): Flag => ({ name, value, doc, key });

/** Flags that every command takes. */
const COMMON_FLAGS: readonly Flag[] = [
  flag('data-dir', 'D', 'Folder of the cluster (default .skein)', 'data_dir'),
  { name: 'config', value: 'FILE', doc: 'Configuration file instead of ./skein.yaml' },
  { name: 'set', value: 'KEY=VALUE', doc: 'Sets any key of the configuration; may be repeated' },
  flag('log-level', 'LEVEL', 'trace, debug, info, warn, error or silent', 'log_level'),
  { name: 'help', short: 'h', doc: 'Says how the command is used' },
];

export const JSON_FLAG: Flag = { name: 'json', doc: 'Prints JSON' };

const allFlags = (command: Command): readonly Flag[] => [...command.flags, ...COMMON_FLAGS];

export type ParsedCommand = { readonly flags: Flags; readonly positionals: readonly string[] };

/** @throws UsageError: an unknown flag (with the nearest one), a flag without its value, arguments that the command does not take */
export function parseCommand(command: Command, args: readonly string[]): ParsedCommand {
  const flags = allFlags(command);
  if (command.ownArguments === true) return takeFlags(args, flags);
  const config = { args: [...args], options: parseOptions(flags), allowPositionals: true } as const;
  try {
    const { values, positionals } = parseArgs({ ...config, strict: true });
    if (command.positionals === undefined && positionals.length > 0) {
      throw new UsageError(`skein ${command.name} takes no argument ${JSON.stringify(positionals[0])}`);
    }
    return { flags: new Flags(values), positionals };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(parseMessage(error as NodeJS.ErrnoException, flags));
  }
}

/** Removes `flags` from `args`; the rest is left unchanged for the command's own parser. */
function takeFlags(args: readonly string[], flags: readonly Flag[]): ParsedCommand {
  const config = { args: [...args], options: parseOptions(flags), allowPositionals: true } as const;
  const { values, tokens } = parseArgs({ ...config, strict: false, tokens: true });
  const known = new Set(flags.map(({ name }) => name));
  const taken = new Set<number>();
  for (const token of tokens) {
    if (token.kind !== 'option' || !known.has(token.name)) continue;
    taken.add(token.index);
    if (token.value === undefined) continue;
    if (!token.inlineValue) taken.add(token.index + 1);
  }
  const missing = flags.find(({ name, value }) => value !== undefined && [values[name]].flat().includes(true));
  if (missing !== undefined) throw new UsageError(`--${missing.name} needs a value`);
  return { flags: new Flags(values), positionals: args.filter((_, i) => !taken.has(i)) };
}

const parseOptions = (flags: readonly Flag[]): ParseArgsOptionsConfig =>
  Object.fromEntries(
    flags.map(({ name, value, short }) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', multiple: true, ...(short === undefined ? {} : { short }) },
    ]),
  );

/** The configuration with the command's flags on top. @throws INVALID_CONFIGURATION */
export function commandConfig(command: Command, { flags }: ParsedCommand): LoadedConfig {
  const settings: FlagSetting[] = flags.texts('set').map((text) => {
    const at = text.indexOf('=');
    if (at <= 0) throw new UsageError(`--set ${text}: expected KEY=VALUE`);
    return { key: text.slice(0, at), text: text.slice(at + 1), flag: '--set' };
  });
  for (const { name, key } of allFlags(command)) {
    const text = flags.text(name);
    if (key !== undefined && text !== undefined) settings.push({ key, text, flag: `--${name}` });
  }
  return loadConfig({ flags: settings, file: flags.text('config') });
}

function parseMessage(error: NodeJS.ErrnoException, flags: readonly Flag[]): string {
  const unknown = /Unknown option '--?([^']*)'/.exec(error.message)?.[1];
  if (error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || unknown === undefined) return error.message;
  const nearest = nearestName(
    unknown,
    flags.map(({ name }) => name),
  );
  return `unknown flag --${unknown}${nearest === undefined ? '' : `; did you mean --${nearest}?`}`;
}

/** The help of one command. */
export function usage(command: Command): string {
  const rows = allFlags(command).map(({ name, value, short, doc, key }) => {
    const word = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
    return [word, key === undefined ? doc : `${doc} [${key}]`] as const;
  });
  const width = Math.max(...rows.map(([word]) => word.length)) + 2;
  const lines = rows.map(([word, doc]) => `  ${word.padEnd(width)}${doc}`);
  const positionals = command.positionals === undefined ? '' : ` ${command.positionals}`;
  return [`skein ${command.name}${positionals} [flags]`, '', command.summary, '', ...lines, ''].join('\n');
}
