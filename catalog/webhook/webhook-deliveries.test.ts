import { expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';

test('a look every 10 s, three attempts, 30 s, 2 min and 8 min between them, by default', () => {
  expect(defaultConfig()).toMatchObject({
    'webhook.interval': 10_000,
    'webhook.attempts': 3,
    'webhook.backoff': ['30s', '2m', '8m'],
  });
});
