import { expect, test, vi } from 'vitest';
import { credentialId, type S3Credential } from '#shared/storage/credential.ts';
import { TaskKeys } from './task-keys.ts';

const key = (accessKeyId: string): S3Credential => ({
  kind: 's3',
  accessKeyId,
  secretAccessKey: 's',
  sessionToken: 't',
  expiresAtMs: 1,
  region: 'r',
  endpoint: null,
  pathStyle: false,
  reach: { folders: ['s3://b/t'], writes: false },
});

test('all who need another key in place of one ask once, and get the one that comes', async () => {
  const asked: string[] = [];
  const keys = new TaskKeys(new AbortController().signal, (id) => asked.push(id));
  const [old, next] = [key('a'), key('b')];
  const both = Promise.all([keys.use.renew?.(old), keys.use.renew?.(old)]);
  expect(asked).toEqual([credentialId(old)]);
  keys.renewed(credentialId(old), next);
  expect(await both).toEqual([next, next]);
  expect(await keys.use.renew?.(old)).toBe(next);
  expect(asked).toHaveLength(1);
});

test('who still has the first key gets the last that has come, and none between that the store may have forgotten', async () => {
  const asked: string[] = [];
  const keys = new TaskKeys(new AbortController().signal, (id) => asked.push(id));
  const [first, second, third] = [key('a'), key('b'), key('c')];
  keys.renewed(credentialId(first), second);
  keys.renewed(credentialId(second), third);
  expect(await keys.use.renew?.(first)).toBe(third);
  expect(await keys.use.renew?.(second)).toBe(third);
  expect(asked).toEqual([]);
  void keys.use.renew?.(third);
  expect(asked).toEqual([credentialId(third)]);
  // One that comes back is the last one.
  keys.renewed(credentialId(third), first);
  expect(await keys.use.renew?.(second)).toBe(first);
  void keys.use.renew?.(first);
  expect(asked).toEqual([credentialId(third), credentialId(first)]);
});

test('a task that ends waits for no key, and none waits forever', async () => {
  const abort = new AbortController();
  const keys = new TaskKeys(abort.signal, () => undefined);
  const waiting = keys.use.renew?.(key('a'));
  abort.abort(new Error('over'));
  await expect(waiting).rejects.toThrow();
  vi.useFakeTimers();
  try {
    const late = expect(
      new TaskKeys(new AbortController().signal, () => undefined).use.renew?.(key('a')),
    ).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    await vi.advanceTimersByTimeAsync(30_000);
    await late;
  } finally {
    vi.useRealTimers();
  }
});

test('a key that nobody renews is used as it is', async () => {
  const { reach: _reach, ...old } = key('a');
  const keys = new TaskKeys(new AbortController().signal, () => expect.unreachable());
  expect(await keys.use.renew?.(old)).toBe(old);
});
