import { expect, test } from 'vitest';
import { RepeatBudget } from '#shared/storage/storage-use.ts';
import { statementUse, type KeyQuestions } from './fresh-key.ts';

const KEYS = {} as KeyQuestions;

test('the storages of one statement share its repeats, and those of another have theirs', () => {
  const repeats = new RepeatBudget();
  const [files, commit] = [statementUse(KEYS, 'acme', { repeats }), statementUse(KEYS, 'acme', { repeats })];
  while (files.repeats?.take() === true);
  expect(commit.repeats?.take()).toBe(false);
  expect(statementUse(KEYS, 'acme').repeats?.take()).toBe(true);
});
