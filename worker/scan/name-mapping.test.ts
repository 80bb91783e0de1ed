import { expect, test } from 'vitest';
import { threadCpuMs } from '#test/support/thread-cpu.ts';
import type { FileField } from './footer.ts';
import { withFieldIds } from './name-mapping.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const FIELDS = 20_000;
/** Limit of thread CPU time: building an index for each field would take a minute. */
const CPU_MS_MAX = 1_000;

const field = (name: string, children: readonly FileField[] = []): FileField => ({
  name,
  id: null,
  kind: children.length === 0 ? 'primitive' : 'struct',
  children,
  element: { name, children: children.length, scale: 0, precision: 0 },
  leaves: { first: 0, end: 1 },
});

test('fields of one name share what is known of its parts', () => {
  const parts = Array.from({ length: FIELDS }, (_, i) => ({ 'field-id': i + 2, names: [`part${i}`] }));
  const mapping = [{ 'field-id': 1, names: ['a'], fields: parts }];
  const fields = Array.from({ length: FIELDS }, () => field('a', [field('part7'), field('unknown')]));
  let mapped: readonly FileField[] = [];
  expect(threadCpuMs(() => (mapped = withFieldIds(fields, mapping, 'f')), 1)).toBeLessThan(
    CPU_MS_MAX * machineSlowness(),
  );
  expect(mapped.at(-1)?.id).toBe(1);
  expect(mapped.at(-1)?.children.map(({ id }) => id)).toEqual([9, null]);
});
