import { expect, test } from 'vitest';
import { redactUrls } from './redact.ts';

test.each([
  ['postgres://u:p%40ss@h:5432/d', 'postgres://u:***@h:5432/d'],
  ['postgres://h/d?user=u&password=secret&x=1', 'postgres://h/d?user=u&password=***&x=1'],
  ['http://u:one@a:1,http://u:two@b:2', 'http://u:***@a:1,http://u:***@b:2'],
  ['http://127.0.0.1:8181', 'http://127.0.0.1:8181'],
  ['postgres://:p@h/d', 'postgres://:***@h/d'],
  ['/data/a:b@c', '/data/a:b@c'],
  ['s3://b/k?x=1?token=a?b&secret_key=&y=2, s3://c?key', 's3://b/k?x=1?token=***&secret_key=***&y=2, s3://c?key'],
  ['http://h/?password=a?token=b c', 'http://h/?password=*** c'],
])('%s', (text, redacted) => {
  expect(redactUrls(text)).toBe(redacted);
});
