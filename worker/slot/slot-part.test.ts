import { expect, test } from 'vitest';
import type { Asker } from '#shared/fair/asker.ts';
import { partFor } from './slot-part.ts';

const ann = { tenant: 'north', principal: 'ann' };
const ben = { tenant: 'north', principal: 'ben' };
const cat = { tenant: 'south', principal: 'cat' };
const times = (count: number, asker: Asker): readonly Asker[] => Array.from({ length: count }, () => asker);

test.each([
  ['the whole of an empty slot', [], 1],
  ['less for each task of its own', times(3, ann), 1 / 4],
  ['half beside another principal, however many tasks that has', times(20, ben), 1 / 2],
  ['half beside another tenant', [cat, cat], 1 / 2],
  ['a part of its tenant’s part', [ann, ben, cat], 1 / (2 * 2 * 2)],
])('a task gets %s', (_name, tasks, part) => {
  expect(partFor(ann, tasks)).toBeCloseTo(part, 10);
});

test('the principals of another tenant do not count', () => {
  expect(partFor(ann, [cat, { tenant: 'south', principal: 'dan' }])).toBe(1 / 2);
});

/** Places a task where its part is largest, as `SlotPool` does. */
function place(slots: Asker[][], asker: Asker): void {
  const [best] = slots.toSorted((a, b) => partFor(asker, b) - partFor(asker, a));
  best?.push(asker);
}

test('whoever has few tasks has them on all slots again, after they had gathered on one', () => {
  const slots = [times(22, ann).slice(), [...times(16, ben), ...times(7, ann)]];
  for (let i = 0; i < 16; i++) {
    slots[1]?.splice(slots[1].indexOf(ben), 1);
    place(slots, ben);
  }
  expect(slots.map((tasks) => tasks.filter((task) => task === ben).length)).toEqual([8, 8]);
});
