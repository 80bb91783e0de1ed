import { SkeinError } from '#shared/error.ts';
import { didYouMean, nearestName } from '#shared/nearest-name.ts';
import { DUCKDB_RELEASE, printRelease, SKEIN_RELEASE } from '#shared/release.ts';
import { commandConfig, parseCommand, usage, type Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { EXIT, UsageError, exitCodeOf, type ExitCode } from './exit-code.ts';

/** The command line: finds the command, reads the configuration, runs it, and ends with its exit code. */
export async function main(args: readonly string[]): Promise<void> {
  const code = await run(args);
  // Flushes output that is still buffered before the process ends.
  process.exitCode = code;
  await Promise.all([drained(process.stdout), drained(process.stderr)]);
  process.exit(code);
}

async function run(args: readonly string[]): Promise<ExitCode> {
  const [first] = args;
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') return help(args.slice(1));
  if (first === 'version' || first === '--version')
    return say(`${printRelease({ skein: SKEIN_RELEASE, duckdb: DUCKDB_RELEASE })}\n`);
  let command: Command | undefined;
  try {
    const found = findCommand(args);
    command = found.command;
    const parsed = parseCommand(command, found.rest);
    if (parsed.flags.has('help')) return say(usage(command));
    return await command.run({ loaded: commandConfig(command, parsed), ...parsed });
  } catch (thrown) {
    return await explain(thrown, command);
  }
}

async function explain(thrown: unknown, command: Command | undefined): Promise<ExitCode> {
  if (command?.name === 'up') {
    const { failedStart } = await import('./up/up.ts');
    if (!(thrown instanceof UsageError)) return failedStart(thrown);
    failedStart(new SkeinError('INVALID_CONFIGURATION', thrown.message));
    return EXIT.usage;
  }
  if (thrown instanceof UsageError) {
    const about = command === undefined ? 'skein help' : `skein ${command.name} --help`;
    process.stderr.write(`skein: ${thrown.message} (see ${about})\n`);
    return EXIT.usage;
  }
  const error = SkeinError.of(thrown);
  process.stderr.write(`skein: ${error.message}\n`);
  if (error.code === 'INTERNAL_ERROR')
    process.stderr.write(`${String((error.cause as Error)?.stack ?? error.cause)}\n`);
  return exitCodeOf(error);
}

/** Finds the command with the longest name that the arguments begin with. */
function findCommand(args: readonly string[]): { command: Command; rest: readonly string[] } {
  for (const length of [3, 2, 1]) {
    const name = args.slice(0, length).join(' ');
    const command = COMMANDS.find((candidate) => candidate.name === name);
    if (command !== undefined && args.length >= length) return { command, rest: args.slice(length) };
  }
  const [first = ''] = args;
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  if (group.length > 0) throw new UsageError(`skein ${first}: expected one of: ${group.join(', ')}`);
  const nearest = nearestName(
    first,
    COMMANDS.map(({ name }) => name),
  );
  throw new UsageError(`unknown command ${first}${didYouMean(nearest)}`);
}

function help(args: readonly string[]): ExitCode {
  if (args.length > 0) {
    try {
      return say(usage(findCommand(args).command));
    } catch (error) {
      process.stderr.write(`skein: ${(error as Error).message}\n`);
      return EXIT.usage;
    }
  }
  const width = Math.max(...COMMANDS.map(({ name }) => name.length)) + 2;
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`);
  return say(['skein <command> [flags]', '', ...lines, '', 'skein <command> --help says more.', ''].join('\n'));
}

function say(text: string): ExitCode {
  process.stdout.write(text);
  return EXIT.ok;
}

const drained = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
