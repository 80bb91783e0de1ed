import fc from 'fast-check';
import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { nextToEnd, type EndingView } from './may-end.ts';

const SERVING: EndingView = { serves: true, isThere: true, isReplaced: false, asks: false };
const LOST: EndingView = { serves: false, isThere: false, isReplaced: true, asks: false };
const GONE: EndingView = { ...LOST, isReplaced: false };
const worker = (name: string, of: Partial<EndingView> = {}): EndingView & { readonly name: string } => ({
  ...SERVING,
  ...of,
  name,
});
const asks = (name: string, of: Partial<EndingView> = {}) => worker(name, { asks: true, ...of });
/** A worker whose threads are all at work on quanta that do not end. */
const stuck = { serves: false };

test.each([
  ['nobody asks', [worker('a'), worker('b')], undefined],
  ['another serves', [asks('a'), worker('b')], 'a'],
  ['both ask', [asks('a'), asks('b')], 'a'],
  ['the other may end already', [asks('a', { isReplaced: true }), asks('b')], undefined],
  ['the other was just lost', [worker('a', LOST), asks('b')], undefined],
  ['the other is back', [worker('a'), asks('b')], 'b'],
  ['the other does not come back', [worker('a', GONE), asks('b')], 'b'],
  ['there is no other', [asks('a')], 'a'],
  ['the other drains', [worker('a', { serves: false, isThere: false }), asks('b')], 'b'],
  ['it drains itself, and the other serves', [worker('a'), asks('b', { serves: false, isThere: false })], 'b'],
  ['the other has no slot and asks, too', [asks('a'), asks('b', stuck)], 'b'],
  ['the other has no slot and does not ask', [asks('a'), worker('b', stuck)], undefined],
  ['neither has a slot', [asks('a', stuck), asks('b', stuck)], 'a'],
  ['neither has a slot, and one is replaced', [asks('a', { ...stuck, isReplaced: true }), asks('b', stuck)], undefined],
  ['a third serves', [asks('a', { isReplaced: true }), asks('b'), worker('c')], 'b'],
])('%s', (_what, workers, next) => {
  expect(nextToEnd(workers)?.name).toBe(next);
});

/** A cluster whose workers hang, are permitted to end, go, and come back. */
type Model = (EndingView & { readonly name: string })[];
const STEPS = ['hang', 'choke', 'end', 'return'] as const;

function step(workers: Model, at: number, what: (typeof STEPS)[number]): void {
  const one = must(workers[at % workers.length], 'a worker');
  const change = (of: Partial<EndingView>): void => void (workers[at % workers.length] = { ...one, ...of });
  if (what === 'hang' && one.isThere) change({ asks: true });
  else if (what === 'choke' && one.isThere) change({ asks: true, serves: false });
  else if (what === 'end' && one.isThere && one.isReplaced) change(LOST);
  else if (what === 'return' && !one.isThere) change(SERVING);
}

test('a worker that serves never ends while no other does, and each that asks may end at last', () => {
  const steps = fc.array(fc.tuple(fc.nat(4), fc.constantFrom(...STEPS)), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 5 }), steps, (count, sequence) => {
      const workers: Model = Array.from({ length: count }, (_, i) => worker(String(i)));
      const permit = (): void => {
        for (let next = nextToEnd(workers); next !== undefined; next = nextToEnd(workers)) {
          const others = workers.filter((other) => other !== next);
          const isServed = others.some(({ serves, isReplaced }) => serves && !isReplaced);
          expect(isServed || !next.serves).toBe(true);
          workers[workers.indexOf(next)] = { ...next, isReplaced: true };
        }
      };
      for (const [at, what] of sequence) {
        step(workers, at, what);
        permit();
      }
      // Those that may end go and come back: then none is left that asks.
      for (let round = 0; round <= count; round += 1) {
        workers.forEach((_one, at) => step(workers, at, 'end'));
        workers.forEach((_one, at) => step(workers, at, 'return'));
        permit();
      }
      expect(workers.filter(({ asks: stillAsks }) => stillAsks)).toEqual([]);
    }),
  );
});
