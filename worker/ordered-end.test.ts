import { expect, test } from 'vitest';
import { decodeTaskHead, encodeTaskSpec } from '#shared/task/task-codec.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { makeTask } from '#test/support/worker-client.ts';
import { OrderedEnd } from './ordered-end.ts';

const spec = decodeTaskHead(await encodeTaskSpec(makeTask('SELECT 1')));
const HUNG = { spec, ageMs: 7_000.4 };
const TASK = { query_id: spec.queryId, task_id: spec.taskId, quantum_ms: '7000' };

function ordered() {
  let nowMs = 0;
  let changes = 0;
  const end = new OrderedEnd(silentLogger, { monotonicMs: () => nowMs });
  const listening = end.onChange(() => (changes += 1));
  return { end, pass: (ms: number) => void (nowMs += ms), changes: () => changes, leave: listening };
}

test('a worker with a quantum that hangs asks, and ends when a coordinator permits it', async () => {
  const { end, changes } = ordered();
  end.heard(false);
  end.want(HUNG);
  end.want(HUNG);
  expect([end.asksFor, end.hung, changes()]).toEqual([TASK, null, 1]);
  end.heard(false);
  expect(end.hung).toBeNull();
  end.heard(true);
  expect([end.asksFor, end.hung, changes()]).toEqual([null, TASK, 2]);
  end.want(null);
  expect(end.hung).toEqual(TASK);
  await end.told;
});

test('a quantum that ends after all ends the asking, and a late permission ends no process', () => {
  const { end } = ordered();
  end.heard(false);
  end.want(HUNG);
  end.want(null);
  expect(end.asksFor).toBeNull();
  end.heard(true);
  expect(end.hung).toBeNull();
});

test('without a coordinator nobody is asked: at once, or ten seconds after the last was heard of', () => {
  const alone = ordered();
  alone.end.want(HUNG);
  expect(alone.end.hung).toEqual(TASK);
  const left = ordered();
  left.end.heard(false);
  left.pass(10_000);
  left.end.want(HUNG);
  expect(left.end.hung).toBeNull();
  left.pass(1);
  left.end.want(HUNG);
  expect(left.end.hung).toEqual(TASK);
});
