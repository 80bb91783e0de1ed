import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadConfig } from '#shared/config/load-config.ts';
import { COMMANDS } from './commands.ts';
import { parseCommand } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'skein-workload-'));
const file = join(folder, 'workload.yaml');
let printed = '';

beforeEach(() => {
  printed = '';
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
  const loaded = loadConfig({ environment: { SKEIN_DATA_DIR: folder } });
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
