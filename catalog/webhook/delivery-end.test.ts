import { expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { deliveryEnd } from './delivery-end.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const config = defaultConfig({});
const after = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

test.each([200, 202, 204, 299])('answer %i: delivered', (status) => {
  expect(deliveryEnd({ status }, 1, NOW, config)).toEqual({
    status: 'delivered',
    httpStatus: status,
    error: null,
    now: NOW,
    dueAt: null,
  });
});

test.each([301, 307, 400, 404, 410, 429, 500, 503])('answer %i: retrying', (status) => {
  expect(deliveryEnd({ status }, 1, NOW, config)).toMatchObject({
    status: 'retrying',
    httpStatus: status,
    error: expect.stringContaining(`answered ${status}`),
  });
});

test('no answer: 30 s after the first attempt, 2 min after the second, and the third has failed', () => {
  const ends = [1, 2, 3].map((attempt) => deliveryEnd({ problem: 'gone' }, attempt, NOW, config));
  expect(ends.map(({ status, dueAt, error }) => [status, dueAt, error])).toEqual([
    ['retrying', after(30), 'gone'],
    ['retrying', after(120), 'gone'],
    ['failed', null, 'gone'],
  ]);
});

test('with more attempts the third wait is 8 min, and so are those that follow', () => {
  const more = { ...config, 'webhook.attempts': 6 };
  const waits = [1, 2, 3, 4, 5].map((attempt) => deliveryEnd({ status: 500 }, attempt, NOW, more).dueAt);
  expect(waits).toEqual([after(30), after(120), after(480), after(480), after(480)]);
  expect(deliveryEnd({ status: 500 }, 6, NOW, more).status).toBe('failed');
});
