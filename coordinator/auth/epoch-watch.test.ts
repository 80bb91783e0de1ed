import { expect, test } from 'vitest';
import { silentLogger } from '#shared/log/logger.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { EpochWatch } from './epoch-watch.ts';
import { patience } from '#test/support/run/slowness.ts';

type Update = { readonly principal: string; readonly sessionEpoch: number; readonly stopped: boolean };

/** A catalog whose streams are written down: one after the other ends, and the last one stays open. */
function catalogOf(streams: readonly (readonly Update[])[]): Pick<CatalogClient, 'watchEpochs'> {
  const left = [...streams];
  return {
    async *watchEpochs(signal) {
      const updates = left.shift() ?? [];
      yield { epochs: updates, endedSignIns: [] };
      if (left.length > 0) throw new Error('the stream breaks');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
}

test('a stream that begins again stops nobody a second time, and who was stopped meanwhile once', async () => {
  const suspended = { principal: 'ann', sessionEpoch: 3, stopped: true };
  // The catalog remembers how the epoch was raised, also when ann was let back since.
  const later = { principal: 'bob', sessionEpoch: 1, stopped: true };
  const renamed = { principal: 'cid', sessionEpoch: 2, stopped: false };
  const again = { principal: 'ann', sessionEpoch: 4, stopped: true };
  const stopped: string[] = [];
  const watch = new EpochWatch(catalogOf([[suspended], [suspended, later, renamed], [again, later]]), silentLogger, {
    principal: (principal) => void stopped.push(principal),
    signIn: () => undefined,
  });
  try {
    await expect.poll(() => watch.current('ann'), { timeout: patience(10_000) }).toBe(4);
    expect(stopped).toEqual(['ann', 'bob', 'ann']);
    expect(watch.current('cid')).toBe(2);
  } finally {
    await watch.close();
  }
});

test('a sign-in that has ended is known, told once, and forgotten when its last token is over', async () => {
  const [long, over] = [
    { id: 'long', untilMs: Date.now() + 3_600_000 },
    { id: 'over', untilMs: Date.now() - 3_600_000 },
  ];
  const streams = [
    [long, over],
    [long, { id: 'next', untilMs: long.untilMs }],
  ];
  const told: string[] = [];
  const watch = new EpochWatch(
    {
      async *watchEpochs(signal) {
        yield { epochs: [], endedSignIns: streams.shift() ?? [] };
        if (streams.length > 0) throw new Error('the stream breaks');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    },
    silentLogger,
    { principal: () => undefined, signIn: (signIn) => void told.push(signIn) },
  );
  try {
    await expect.poll(() => watch.hasEnded('next'), { timeout: patience(10_000) }).toBe(true);
    expect(told).toEqual(['long', 'over', 'next']);
    expect([watch.hasEnded('long'), watch.hasEnded('over'), watch.hasEnded('other')]).toEqual([true, false, false]);
  } finally {
    await watch.close();
  }
});
