import { expect, test } from 'vitest';
import { AnswerBudget } from './answer-budget.ts';

const MIB = 2 ** 20;

test('a tenant that has much on its way waits until some of it has gone; others do not', () => {
  const budget = new AnswerBudget(2 * MIB);
  const first = budget.take('a', MIB);
  budget.requireRoom('a');
  const second = budget.take('a', 5 * MIB);
  expect(() => budget.requireRoom('a')).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }) as Error);
  budget.requireRoom('b');
  second();
  budget.requireRoom('a');
  first();
});

test('small answers are not counted', () => {
  const budget = new AnswerBudget(MIB);
  for (let i = 0; i < 100; i += 1) budget.take('a', 100_000);
  budget.requireRoom('a');
});
