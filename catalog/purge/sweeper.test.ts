import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { Sweeper, type Chore } from './sweeper.ts';

const sweeper = (...chores: readonly Chore[]): Sweeper =>
  new Sweeper({ config: defaultConfig({ 'catalog.background_interval': 60_000 }), log: silentLogger }, chores);

test('a chore goes on while it has more to do, and a wake during its last step is not lost', async () => {
  const left = [true, true, false, false];
  const { promise: isHeld, resolve: release } = Promise.withResolvers<void>();
  const step = vi.fn(async () => {
    const more = left.shift() ?? false;
    if (!more) await isHeld;
    return more;
  });
  const one = sweeper({ failure: 'failed', step });
  one.start();
  await vi.waitFor(() => expect(step).toHaveBeenCalledTimes(3));
  one.wake();
  release();
  await vi.waitFor(() => expect(step).toHaveBeenCalledTimes(4));
  await one.close();
  expect(step).toHaveBeenCalledTimes(4);
});

test('neither a chore that fails nor one that takes long keeps another from its work', async () => {
  const fails = vi.fn(() => Promise.reject(new Error('no database')));
  const works = vi.fn(() => Promise.resolve(false));
  const long = vi.fn(async (signal: AbortSignal) => {
    await sleep(60_000, undefined, { signal });
    return false;
  });
  const one = sweeper(
    { failure: 'failed', step: fails },
    { failure: 'failed', step: long },
    { failure: 'failed', step: works },
  );
  one.start();
  await vi.waitFor(() => expect(works).toHaveBeenCalledTimes(1));
  one.wake();
  await vi.waitFor(() => expect([fails, long, works].map(({ mock }) => mock.calls.length)).toEqual([2, 1, 2]));
  await one.close();
});
