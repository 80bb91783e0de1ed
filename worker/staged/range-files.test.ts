import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { tenantId } from '#shared/id.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { linesBefore, RangeFiles } from './range-files.ts';
import { openScanned } from '../scan/readable-path.ts';

let dir: string;
const open = openScanned({ credential: FILE_CREDENTIAL });
const { signal } = new AbortController();

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skein-ranges-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const rangesOf = (spillLimitBytes: number): RangeFiles =>
  new RangeFiles(join(dir, 'parts'), { tenant: tenantId('tenant'), spillLimitBytes });

async function fileOf(text: string): Promise<ScanFile> {
  const path = join(dir, 'file');
  await writeFile(path, text);
  const sizeBytes = Buffer.byteLength(text);
  return { path, recordCount: 0, sizeBytes, rows: null, constants: {}, deletes: [], firstRowId: null };
}

test('ranges that cover a file have each line once, in order, with the number of lines before it', async () => {
  const lines = fc.array(fc.stringMatching(/^[a-c]{0,5}$/), { maxLength: 20 });
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(lines, fc.constantFrom('\n', ''), cuts, async (list, last, shares) => {
      const text = list.join('\n') + (list.length === 0 ? '' : last);
      const file = await fileOf(text);
      const at = [0, ...shares.map((share) => Math.floor(share * file.sizeBytes)), file.sizeBytes].toSorted(
        (a, b) => a - b,
      );
      await using ranges = rangesOf(1_000_000);
      let read = '';
      for (const [i, start] of at.slice(0, -1).entries()) {
        const part = await ranges.add(signal, file, { start, end: at[i + 1] ?? 0 }, { open, lineBytesMax: 100 });
        if (part === null) continue;
        expect(await linesBefore(part, open)).toBe(read.split('\n').length - 1);
        expect(ranges.find(part.path)).toBe(part);
        read += await readFile(part.path, 'utf8');
      }
      expect(read).toBe(text);
    }),
    { numRuns: 100 },
  );
  expect(await readdir(join(dir, 'parts', 'tenant'))).toEqual([]);
});

test('a line that is too long, and parts that are too many bytes, are refused', async () => {
  const file = await fileOf(`${'x'.repeat(3 * 2 ** 20)}\ny\n`);
  const end = file.sizeBytes;
  const add = (bytesMax: number, start: number, lineBytesMax: number): Promise<unknown> =>
    rangesOf(bytesMax).add(signal, file, { start, end }, { open, lineBytesMax });
  await expect(add(1_000, 1, 1_000)).rejects.toMatchObject({ code: 'INVALID_INPUT_FILE' });
  await expect(add(1_000, 0, 4 * 2 ** 20)).rejects.toMatchObject({ code: 'SPILL_LIMIT' });
});
