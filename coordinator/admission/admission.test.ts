import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { singleGroupAdmission } from './admission.ts';

const never = new AbortController().signal;

test('queries wait in order for a place, and more than the queue holds are refused', async () => {
  const admission = singleGroupAdmission({ runningMax: 1, queuedMax: 2 });
  const first = await admission.admit({ signal: never });
  const order: number[] = [];
  const second = admission.admit({ signal: never }).then((place) => (order.push(2), place));
  const third = admission.admit({ signal: never }).then((place) => (order.push(3), place));
  await expect(admission.admit({ signal: never })).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  first.release();
  first.release();
  (await second).release();
  (await third).release();
  expect(order).toEqual([2, 3]);
  expect([admission.running, admission.queued]).toEqual([0, 0]);
});

test('a query that is cancelled while it waits leaves the queue', async () => {
  const admission = singleGroupAdmission({ runningMax: 1, queuedMax: 1 });
  const first = await admission.admit({ signal: never });
  const cancel = new AbortController();
  const waiting = admission.admit({ signal: cancel.signal });
  cancel.abort(new SkeinError('QUERY_CANCELLED', 'by the user'));
  await expect(waiting).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
  expect(admission.queued).toBe(0);
  first.release();
  expect(admission.running).toBe(0);
});
