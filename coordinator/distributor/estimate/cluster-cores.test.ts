import { expect, test } from 'vitest';
import { clusterCores, stageRooms } from './cluster-cores.ts';

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

test('a stage has one task for every few cores of a worker, and workers of one machine share its cores', () => {
  const c = { id: 'c', cores: 16 };
  const rooms = (...workers: (readonly [number, typeof a])[]) =>
    stageRooms(
      workers.map(([slots, machine]) => ({ slots, machine })),
      'share',
    ).map(({ tasks, cores, taskCores }) => [tasks, cores, taskCores]);
  expect(rooms([8, b])).toEqual([[1, 8, 8]]);
  expect(rooms([12, c])).toEqual([[2, 12, 6]]);
  expect(rooms([16, b], [1, a])).toEqual([
    [1, 8, 8],
    [1, 1, 1],
  ]);
  expect(rooms([8, a], [8, a])).toEqual([
    [1, 1, 1],
    [1, 1, 1],
  ]);
});

test('tasks of a given width fill the slots of their worker', () => {
  expect(stageRooms([{ slots: 8, machine: a }], 1)).toEqual([{ tasks: 8, cores: 8, taskCores: 1 }]);
  expect(stageRooms([{ slots: 8, machine: a }], 'worker')).toEqual([{ tasks: 8, cores: 8, taskCores: 8 }]);
});
