import { expect, test } from 'vitest';
import { silentLogger } from '#shared/log/logger.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { EpochWatch } from './epoch-watch.ts';

type Update = { readonly principal: string; readonly sessionEpoch: number; readonly stopped: boolean };

/** A catalog whose streams are written down: one after the other ends, and the last one stays open. */
function catalogOf(streams: readonly (readonly Update[])[]): Pick<CatalogClient, 'watchEpochs'> {
  const left = [...streams];
  return {
    async *watchEpochs(signal) {
      const updates = left.shift() ?? [];
      yield updates;
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
  const watch = new EpochWatch(
    catalogOf([[suspended], [suspended, later, renamed], [again, later]]),
    silentLogger,
    (principal) => stopped.push(principal),
  );
  try {
    await expect.poll(() => watch.current('ann'), { timeout: 10_000 }).toBe(4);
    expect(stopped).toEqual(['ann', 'bob', 'ann']);
    expect(watch.current('cid')).toBe(2);
  } finally {
    await watch.close();
  }
});
