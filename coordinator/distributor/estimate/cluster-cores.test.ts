import { expect, test } from 'vitest';
import { clusterCores } from './cluster-cores.ts';

const a = { id: 'a', cores: 2 };
const b = { id: 'b', cores: 8 };

test('workers of one machine share its cores, those of others add theirs', () => {
  expect(clusterCores({ workers: [{ slots: 2, machine: a }] })).toBe(2);
  expect(
    clusterCores({
      workers: [
        { slots: 2, machine: a },
        { slots: 2, machine: a },
      ],
    }),
  ).toBe(2);
  expect(
    clusterCores({
      workers: [
        { slots: 1, machine: a },
        { slots: 1, machine: a },
        { slots: 4, machine: b },
      ],
    }),
  ).toBe(6);
});
