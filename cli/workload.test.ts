import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadConfig } from '#shared/config/load-config.ts';
import { COMMANDS } from './commands.ts';
import { parseCommand } from './command.ts';
import { UsageError } from './exit-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'skein-workload-'));
const file = join(folder, 'workload.yaml');
let printed = '';
/** `coordinator.workload_file` */
let configured = '';

beforeEach(() => {
  printed = '';
  configured = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const skein = async (...args: readonly string[]): Promise<number> => {
  const command = COMMANDS.find(({ name }) => name === args.slice(0, 2).join(' '));
  if (command === undefined) throw new Error('no such command');
  const loaded = loadConfig({ environment: { SKEIN_DATA_DIR: folder, SKEIN_COORDINATOR_WORKLOAD_FILE: configured } });
  return command.run({ loaded, ...parseCommand(command, args.slice(2)) });
};

test('workload check says what a file has, or where it is wrong', async () => {
  writeFileSync(file, 'resource_groups: [{name: root, groups: [{name: etl}]}]\n');
  expect(await skein('workload', 'check', file)).toBe(0);
  expect(printed).toBe(`${file} is valid: 2 groups, 0 routing rules\n`);
  writeFileSync(file, 'resource_groups: [{name: root, hard: 1}]\n');
  await expect(skein('workload', 'check', file)).rejects.toThrow(`${file}:1:32: unknown key "hard"`);
  await expect(skein('workload', 'check')).rejects.toThrow('expected one file');
  await expect(skein('workload', 'check', join(folder, 'absent.yaml'))).rejects.toThrow('ENOENT');
});

test('workload route prints the group of a statement, and the rule that sends it there', async () => {
  writeFileSync(
    file,
    [
      'resource_groups: [{name: root, groups: [{name: etl}, {name: "${USER}"}]}]',
      'routing_rules:',
      '  - {match_source: etl, match_query_type: insert, target_group: root.etl, priority: 0}',
      '  - {match_user: ann, target_group: "root.${USER}"}',
    ].join('\n'),
  );
  await skein('workload', 'route', '--user', 'ann', '--source', 'etl', '--type', 'insert');
  await skein('workload', 'route', '--user', 'ann');
  await skein('workload', 'route', '--user', 'bob');
  expect(printed).toBe('root.etl (rule 1, priority 0)\nroot.ann (rule 2)\nroot (no rule matches)\n');
});

test('workload route prints a path as everything else does: a dot in a name is %2E', async () => {
  writeFileSync(
    file,
    'resource_groups: [{name: root, groups: [{name: "${USER}"}]}]\nrouting_rules: [{target_group: "root.${USER}"}]\n',
  );
  await skein('workload', 'route', '--user', 'ann.lee@acme.com');
  expect(printed).toBe('root.ann%2Elee%40acme%2Ecom (rule 1)\n');
});

test('workload route refuses an unknown type of statement, with the list', async () => {
  const route = skein('workload', 'route', '--type', 'inserts');
  await expect(route).rejects.toThrow(UsageError);
  await expect(route).rejects.toThrow(/^--type: expected select, insert, .*, unknown, not "inserts"$/);
});

test('workload route has the default without a file in the data folder; a file that the configuration names must be there', async () => {
  rmSync(file, { force: true });
  await skein('workload', 'route');
  expect(printed).toBe('root (no rule matches)\n');
  configured = join(folder, 'absent.yaml');
  await expect(skein('workload', 'route')).rejects.toThrow(`${configured}: ENOENT`);
});
