import { expect, test } from 'vitest';
import type { Asker } from '#shared/fair/asker.ts';
import { bestSlot, partFor, type Placeable } from './slot-part.ts';

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

/** A slot with these tasks. */
class FakeSlot implements Placeable {
  readonly tasks: Asker[];
  readonly isBusy: boolean;

  constructor(tasks: readonly Asker[], isBusy = true) {
    this.tasks = [...tasks];
    this.isBusy = isBusy;
  }

  get attempts(): { readonly size: number } {
    return { size: this.tasks.length };
  }

  askers(): Iterable<Asker> {
    return this.tasks;
  }
}

test('whoever has few tasks has them on all slots again, after they had gathered on one', () => {
  const slots = [new FakeSlot(times(22, ann)), new FakeSlot([...times(16, ben), ...times(7, ann)])];
  for (let i = 0; i < 16; i++) {
    slots[1]?.tasks.splice(slots[1].tasks.indexOf(ben), 1);
    bestSlot(ben, slots)?.tasks.push(ben);
  }
  expect(slots.map(({ tasks }) => tasks.filter((task) => task === ben).length)).toEqual([8, 8]);
});

test('an idle slot goes first, and of slots with equal parts the one with the fewest tasks', () => {
  const idle = new FakeSlot(times(5, ann), false);
  expect(bestSlot(ann, [new FakeSlot([]), idle])).toBe(idle);
  const few = new FakeSlot([cat]);
  expect(bestSlot(ann, [new FakeSlot(times(31, cat)), few])).toBe(few);
  expect(bestSlot(ann, [])).toBeUndefined();
});
