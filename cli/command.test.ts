import { describe, expect, test } from 'vitest';
import { CONFIG } from '#shared/config/config-schema.ts';
import { must } from '#shared/must.ts';
import { commandConfig, parseCommand, usage, type Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { UsageError } from './exit-code.ts';

const command = (name: string): Command =>
  must(
    COMMANDS.find((candidate) => candidate.name === name),
    `the command ${name}`,
  );

test('flags become settings of the configuration, and are named as their source', () => {
  const up = command('up');
  const args = ['--workers', '3', '--worker-memory=256MB', '--data-dir', '/tmp/none', '--set', 'planner.processes=1'];
  const { config, sources } = commandConfig(up, parseCommand(up, args));
  expect(config).toMatchObject({
    'up.workers': 3,
    'worker.memory_limit': 256_000_000,
    data_dir: '/tmp/none',
    'planner.processes': 1,
  });
  expect(sources['worker.memory_limit']).toBe('flag --worker-memory');
});

test.each([
  ['status', ['--jsno'], 'did you mean --json?'],
  ['status', ['extra'], 'takes no argument "extra"'],
  ['token', ['--ttl'], '--ttl'],
  ['load', ['tpch', '--data-dir'], '--data-dir needs a value'],
  ['up', ['--set', 'worker.cores'], 'expected KEY=VALUE'],
])('skein %s %j is a usage error', (name, args, message) => {
  const run = (): unknown => commandConfig(command(name), parseCommand(command(name), args));
  expect(run).toThrow(UsageError);
  expect(run).toThrow(message);
});

test('the last of a repeated flag counts', () => {
  const up = command('up');
  expect(commandConfig(up, parseCommand(up, ['--workers', '3', '--workers', '5'])).config['up.workers']).toBe(5);
});

describe('a command with arguments of its own', () => {
  test.each([
    [['parquet', 'a b', '--data-dir', 'D', '--table', 'x.y.z', '--json']],
    [['--data-dir=D', 'parquet', 'a b', '--table', 'x.y.z', '--json']],
    [['parquet', 'a b', '--table', 'x.y.z', '--json', '--user', 'u', '--data-dir', 'D']],
  ])('%j keeps the rest in its order', (args) => {
    const { flags, positionals } = parseCommand(command('load'), args);
    expect(flags.text('data-dir')).toBe('D');
    expect(positionals).toEqual(['parquet', 'a b', '--table', 'x.y.z', '--json']);
  });
});

test('every command explains every flag, and every flag with a key names one', () => {
  for (const { name, flags } of COMMANDS) {
    const text = usage(command(name));
    for (const { name: flagName, key } of flags) {
      expect(text).toContain(`--${flagName}`);
      if (key !== undefined) expect(CONFIG).toHaveProperty([key]);
    }
  }
});
