import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { areKept, hasRoom, KEPT_BYTES_MAX, nextRows, NO_ROWS, type FlightEvent } from './flight-rows.ts';

const after = (...events: readonly FlightEvent[]) => events.reduce(nextRows, NO_ROWS);
const batch = (bytes: number): FlightEvent => ({ kind: 'batch', bytes });
const take = (count: number, bytes: number): FlightEvent => ({ kind: 'take', count, bytes });
const failure = new SkeinError('QUERY_CANCELLED', 'x');

test('few rows stay for another reader, who takes none that wait', () => {
  const read = after(batch(10), batch(20), take(1, 10), take(2, 20), take(1, 10));
  expect(read).toMatchObject({ dropped: 0, held: 2, taken: 2, waitingBytes: 0, allBytes: 30, isCommitted: true });
  expect(areKept(read)).toBe(true);
});

test('many rows go with their reader, and make room', () => {
  const full = after(batch(KEPT_BYTES_MAX), batch(1));
  expect([areKept(full), hasRoom(full)]).toEqual([false, false]);
  const one = nextRows(full, take(1, KEPT_BYTES_MAX));
  expect(one).toMatchObject({ dropped: 1, held: 1, waitingBytes: 1 });
  expect(hasRoom(one)).toBe(true);
});

test('rows that begin anew leave nothing of those before', () => {
  expect(after(batch(5), { kind: 'begin' })).toEqual(NO_ROWS);
  expect(after(batch(5), { kind: 'drop' })).toMatchObject({ dropped: 1, held: 0, allBytes: 0 });
});

test('the first end is final', () => {
  const fail: FlightEvent = { kind: 'fail', error: failure };
  expect(after({ kind: 'finish', rows: 3 }, fail)).toMatchObject({ kind: 'finished', rows: 3 });
  expect(after(fail, { kind: 'finish', rows: 3 })).toMatchObject({ kind: 'failed', error: failure });
});
