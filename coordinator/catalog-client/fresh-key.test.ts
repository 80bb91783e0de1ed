import { expect, test } from 'vitest';
import { RepeatBudget } from '#shared/storage/storage-use.ts';
import type { GcsCredential } from '#shared/storage/credential.ts';
import { freshKey, statementUse, type KeyQuestions } from './fresh-key.ts';
import { keyIsReplaced } from './replaced-keys.ts';

const KEYS = {} as KeyQuestions;

test('the storages of one statement share its repeats, and those of another have theirs', () => {
  const repeats = new RepeatBudget();
  const [files, commit] = [statementUse(KEYS, 'acme', { repeats }), statementUse(KEYS, 'acme', { repeats })];
  while (files.repeats?.take() === true);
  expect(commit.repeats?.take()).toBe(false);
  expect(statementUse(KEYS, 'acme').repeats?.take()).toBe(true);
});

test('a statement begins with no key that ends soon, nor with one that another came for', async () => {
  const other: GcsCredential = { kind: 'gcs', token: 'other', expiresAtMs: null, endpoint: null };
  const catalog = { storageKey: () => Promise.resolve(other) } as unknown as KeyQuestions;
  const key = (leftMs: number): GcsCredential => ({
    ...other,
    token: 'first',
    expiresAtMs: Date.now() + leftMs,
    reach: { folders: ['gs://bucket/t'], writes: false },
  });
  const lasting = key(3_600_000);
  expect(await freshKey(catalog, 'acme', lasting)).toBe(lasting);
  expect(await freshKey(catalog, 'acme', key(30_000))).toBe(other);
  keyIsReplaced(lasting);
  expect(await freshKey(catalog, 'acme', lasting)).toBe(other);
});
