import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import type { Workload } from './workload.ts';
import { WorkloadFile } from './workload-file.ts';
import { patience } from '#test/support/run/slowness.ts';

/** A change is in force within this time. */
const WITHIN = { timeout: patience(2_000) };

let folder: string;
let path: string;
let opened: WorkloadFile | undefined;
/** Messages that were logged as errors. */
const errors: string[] = [];
const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-workload-file-'));
  path = join(folder, 'workload.yaml');
  errors.length = 0;
});
afterEach(async () => {
  await opened?.[Symbol.asyncDispose]();
  opened = undefined;
  await rm(folder, { recursive: true, force: true });
});

const of = (limit: number): string => `resource_groups: [{name: root, hard_concurrency_limit: ${limit}}]\n`;
const limitOf = ({ root }: Workload): number => root.hardConcurrencyLimit;

async function open(named = ''): Promise<{ readonly file: WorkloadFile; readonly seen: number[] }> {
  const file = await WorkloadFile.open(defaultConfig({ data_dir: folder, 'coordinator.workload_file': named }), log);
  opened = file;
  const seen: number[] = [];
  file.onChange((workload) => seen.push(limitOf(workload)));
  return { file, seen };
}

describe('a workload file', () => {
  test('that changes is in force within two seconds, also one that is replaced, and each change is told once', async () => {
    await writeFile(path, of(1));
    const { file, seen } = await open();
    expect(limitOf(file.current)).toBe(1);
    await writeFile(path, of(2));
    await vi.waitFor(() => expect(limitOf(file.current)).toBe(2), WITHIN);
    await writeFile(join(folder, 'next'), of(3));
    await rename(join(folder, 'next'), path);
    await vi.waitFor(() => expect(limitOf(file.current)).toBe(3), WITHIN);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(seen).toEqual([2, 3]);
  });

  test('that is written bit by bit is read when it is whole', async () => {
    await writeFile(path, of(1));
    const { file, seen } = await open();
    await writeFile(path, '');
    const parts = [of(2), ...Array.from({ length: 8 }, () => '# a comment\n'), 'cpu_quota_period: 1h\n'];
    for (const part of parts) {
      await appendFile(path, part);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    await vi.waitFor(() => expect(file.current.cpuQuotaPeriodMs).toBe(3_600_000), WITHIN);
    expect(seen).toEqual([2]);
  });

  test('that is not valid changes nothing, and is named once with line and column until it is mended', async () => {
    await writeFile(path, of(1));
    const { file, seen } = await open();
    await writeFile(path, 'resource_groups:\n  - {name: root, hard: 1}\n');
    await vi.waitFor(() => expect(file.problem).toContain(`${path}:2:18: unknown key "hard"`), WITHIN);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect([limitOf(file.current), seen, errors.length]).toEqual([1, [], 1]);
    await writeFile(path, of(4));
    await vi.waitFor(() => expect([limitOf(file.current), file.problem]).toEqual([4, null]), WITHIN);
  });

  test('that is gone stays in force, and comes back', async () => {
    await writeFile(path, of(1));
    const { file } = await open();
    await rm(path);
    await vi.waitFor(() => expect(file.problem).toBe(`${path} is gone`), WITHIN);
    expect(limitOf(file.current)).toBe(1);
    await writeFile(path, of(1));
    await vi.waitFor(() => expect(file.problem).toBeNull(), WITHIN);
  });

  test('that is emptied leaves the defaults', async () => {
    await writeFile(path, of(1));
    const { file } = await open();
    await writeFile(path, '');
    await vi.waitFor(() => expect([limitOf(file.current), file.problem]).toEqual([100, null]), WITHIN);
  });

  test.each([
    ['valid', of(1), null],
    ['invalid', 'resource_groups: 1', 'expected a list'],
  ])('whose folder is renamed and renamed back is as %s as before', async (_what, text, refusal) => {
    await writeFile(path, of(1));
    const { file, seen } = await open();
    const expectBefore = (): Promise<void> =>
      vi.waitFor(() => {
        if (refusal === null) expect(file.problem).toBeNull();
        else expect(file.problem).toContain(refusal);
      }, WITHIN);
    if (refusal !== null) await writeFile(path, text);
    await expectBefore();
    await rename(folder, `${folder}-away`);
    await vi.waitFor(() => expect(file.problem).toBe(`${path} is gone`), WITHIN);
    await rename(`${folder}-away`, folder);
    await expectBefore();
    expect([limitOf(file.current), seen]).toEqual([1, []]);
  });

  test('of the data folder may come later; one that the configuration names must be there', async () => {
    const { file } = await open();
    expect([limitOf(file.current), file.problem]).toEqual([100, null]);
    await writeFile(path, of(7));
    await vi.waitFor(() => expect(limitOf(file.current)).toBe(7), WITHIN);
    await expect(open(join(folder, 'absent.yaml'))).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' });
  });

  test.each([
    ['is not valid', 'resource_groups: 1'],
    ['is too long', '#'.repeat(1_000_001)],
  ])('that %s is an error at the start', async (_what, text) => {
    await writeFile(path, text);
    await expect(open()).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' });
  });
});
