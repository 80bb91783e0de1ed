import { expect, test } from 'vitest';
import { FilesStayed, removeFiles } from './files-stayed.ts';

const files = (count: number): string[] => Array.from({ length: count }, (_, i) => `s3://b/k${i}`);

/** A storage that keeps the files that a test names, and who asked it. */
function keeping(kept: (location: string) => boolean): {
  readonly sizes: number[];
  readonly remove: (locations: readonly string[]) => Promise<void>;
} {
  const sizes: number[] = [];
  return {
    sizes,
    remove: (locations) => {
      sizes.push(locations.length);
      const stayed = locations.filter(kept).map((location) => ({ location, why: 'AccessDenied' }));
      return stayed.length === 0 ? Promise.resolve() : Promise.reject(new FilesStayed(stayed));
    },
  };
}

test('files go by thousands, and each that stays is in the log, also behind the first twenty', async () => {
  const logged: string[] = [];
  const storage = keeping((location) => location.endsWith('7'));
  const warn = (record: { readonly table: string; readonly files: readonly { readonly location: string }[] }): void => {
    expect(record.table).toBe('a.b.t');
    logged.push(...record.files.map(({ location }) => location));
  };
  const stayed = await removeFiles(storage, files(2_500), { log: { warn }, table: 'a.b.t', pause: () => undefined });
  expect(storage.sizes).toEqual([1_000, 1_000, 500]);
  expect(stayed).toBe(250);
  expect(logged).toEqual(files(2_500).filter((one) => one.endsWith('7')));
});

test('a storage that deletes nothing ends it, and what it was asked for is in the log', async () => {
  let logged = 0;
  const storage = keeping(() => true);
  const warn = (record: { readonly files: readonly unknown[] }): void => void (logged += record.files.length);
  const removal = removeFiles(storage, files(3_000), { log: { warn }, table: 't', pause: () => undefined });
  await expect(removal).rejects.toMatchObject({
    code: 'STORAGE_ERROR',
    message: expect.stringMatching(/k19 and 980 more: AccessDenied$/) as string,
  });
  expect([storage.sizes, logged]).toEqual([[1_000], 1_000]);
});
