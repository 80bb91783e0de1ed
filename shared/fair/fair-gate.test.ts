import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FairGate } from './fair-gate.ts';

const [a, b] = ['a', 'b'].map((tenant) => ({ tenant, principal: 'p' })) as [
  { tenant: string; principal: string },
  { tenant: string; principal: string },
];

test('a place goes to the tenant that has fewest, and a full queue refuses the one who fills it', async () => {
  const gate = new FairGate({ atOnce: 2, waitingMax: 2, what: 'the test' });
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const work = (asker: typeof a): Promise<void> =>
    gate.run(asker, () => {
      order.push(asker.tenant);
      return new Promise((resolve) => ends.push(resolve));
    });
  const first = [work(a), work(a)];
  const waiting = work(a);
  const refused = work(a);
  refused.catch(() => undefined);
  await setImmediate();
  const other = work(b);
  await expect(refused).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  await expect(work(a)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  ends[0]?.();
  await first[0];
  await setImmediate();
  expect(order).toEqual(['a', 'a', 'b']);
  for (let i = 1; i < 4; i += 1) {
    ends[i]?.();
    await setImmediate();
    await setImmediate();
  }
  await Promise.all([...first, waiting, other]);
  expect(order).toEqual(['a', 'a', 'b', 'a']);
});
