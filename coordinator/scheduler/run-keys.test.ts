import { expect, test } from 'vitest';
import type { TaskSpec } from '#shared/task/task.ts';
import { taskId } from '#shared/id.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { credentialId, type GcsCredential, type StoreCredential } from '#shared/storage/credential.ts';
import type { LiveWorker } from '../cluster/worker-pool.ts';
import { RunKeys } from './run-keys.ts';
import type { TaskOwner } from './task-spec.ts';

const key = (token: string): GcsCredential => ({ kind: 'gcs', token, expiresAtMs: null, endpoint: null });

/** The keys of a run on worker `w`, in whose place these come. `sent` are those that the worker got. */
function running(others: readonly string[]) {
  const asked: string[] = [];
  const sent: string[] = [];
  const renewKey = (_tenant: unknown, old: StoreCredential): Promise<StoreCredential> => {
    asked.push(old.kind === 'gcs' ? old.token : '');
    return Promise.resolve(key(others[asked.length - 1] ?? 'none'));
  };
  const call = (_name: string, { credential }: { readonly credential: Buffer }): Promise<void> => {
    sent.push((JSON.parse(String(credential)) as GcsCredential).token);
    return Promise.resolve();
  };
  const worker = { info: { id: 'w' }, link: { calls: { call } } } as unknown as LiveWorker;
  const owner = { queryId: 'q', tenant: 't', principal: 'p', epoch: 1 } as unknown as TaskOwner;
  const keys = new RunKeys({ keyring: fixedKeyring('secret'), renewKey }, owner);
  return {
    asked,
    sent,
    begin: (id: string): void => {
      const scan = { allowedRoots: ['gs://bucket/t'], credential: key('a') };
      const spec = { taskId: taskId(id), scans: [scan], output: {} } as unknown as TaskSpec;
      keys.add(worker, spec);
    },
    end: (id: string): void => keys.remove(taskId(id)),
    wanted: async (token: string, count: number): Promise<void> => {
      keys.wanted('w', credentialId(key(token)));
      await expect.poll(() => sent).toHaveLength(count);
    },
  };
}

test('a task that begins late gets the last of the keys that have come, and none between', async () => {
  const run = running(['b', 'c']);
  run.begin('1');
  await run.wanted('a', 1);
  await run.wanted('b', 2);
  run.end('1');
  run.begin('2');
  await run.wanted('a', 3);
  expect(run.sent).toEqual(['b', 'c', 'c']);
  expect(run.asked).toEqual(['a', 'b']);
});

test('a key that comes back in place of another is the last one: none is sought for ever', async () => {
  const run = running(['b', 'a', 'd']);
  run.begin('1');
  await run.wanted('a', 1);
  await run.wanted('b', 2);
  await run.wanted('a', 3);
  expect(run.sent).toEqual(['b', 'a', 'd']);
});
