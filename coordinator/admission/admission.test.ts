import { describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { singleGroupAdmission } from './admission.ts';

const never = new AbortController().signal;
const asker = { tenant: 'a', principal: 'p' };

test('queries wait in order for a place, and more than the queue holds are refused', async () => {
  const admission = singleGroupAdmission({ runningMax: 1, queuedMax: 2 });
  const first = await admission.admit({ asker, signal: never });
  const order: number[] = [];
  const second = admission.admit({ asker, signal: never }).then((place) => (order.push(2), place));
  const third = admission.admit({ asker, signal: never }).then((place) => (order.push(3), place));
  await expect(admission.admit({ asker, signal: never })).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  first.release();
  first.release();
  (await second).release();
  (await third).release();
  expect(order).toEqual([2, 3]);
  expect([admission.running, admission.queued]).toEqual([0, 0]);
});

test('a query that is cancelled while it waits leaves the queue', async () => {
  const admission = singleGroupAdmission({ runningMax: 1, queuedMax: 1 });
  const first = await admission.admit({ asker, signal: never });
  const cancel = new AbortController();
  const waiting = admission.admit({ asker, signal: cancel.signal });
  cancel.abort(new SkeinError('QUERY_CANCELLED', 'by the user'));
  await expect(waiting).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
  expect(admission.queued).toBe(0);
  first.release();
  expect(admission.running).toBe(0);
});

describe('tenants', () => {
  const other = { tenant: 'b', principal: 'q' };

  test('one that runs all that it may leaves places for another, who does not wait', async () => {
    const admission = singleGroupAdmission({ runningMax: 16, queuedMax: 100 });
    const attackers = Array.from({ length: 50 }, () => admission.admit({ asker, signal: never }));
    await admission.admit({ asker: other, signal: never });
    await admission.admit({ asker: { tenant: 'c', principal: 'r' }, signal: never });
    expect([admission.running, admission.queued]).toEqual([16, 36]);
    void attackers;
  });

  test('a place that becomes free goes to the tenant that has fewest, not to who waits longest', async () => {
    const admission = singleGroupAdmission({ runningMax: 2, queuedMax: 100 });
    const [first] = await Promise.all([1, 2].map(() => admission.admit({ asker, signal: never })));
    const order: string[] = [];
    for (const one of [asker, asker, other])
      void admission.admit({ asker: one, signal: never }).then(() => order.push(one.tenant));
    first?.release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual(['b']);
  });

  test('a full queue refuses the one who fills it', async () => {
    const admission = singleGroupAdmission({ runningMax: 1, queuedMax: 10 });
    await admission.admit({ asker, signal: never });
    const attackers = Array.from({ length: 10 }, () => admission.admit({ asker, signal: never }));
    const victim = admission.admit({ asker: other, signal: never });
    await expect(attackers.at(-1)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    await expect(admission.admit({ asker, signal: never })).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    expect(admission.queued).toBe(10);
    void victim;
  });
});
