import { setImmediate } from 'node:timers/promises';
import { Utf8 } from 'apache-arrow';
import { expect, test } from 'vitest';
import { taskId } from '#shared/id.ts';
import { decodeFlightData, type FlightData } from '#shared/flight/flight-data.ts';
import { TextColumnReader } from '../sink/text-column.ts';
import { ResultReader } from './result-reader.ts';
import { flightMessages } from '#test/support/scripted/messages.ts';

const [A, B, C] = [taskId('a'), taskId('b'), taskId('c')];

/** The messages of a task whose result is one batch of one row. */
const messages = (row: string): readonly FlightData<Buffer>[] =>
  flightMessages(new Utf8(), { json: [row] }).map((message) => decodeFlightData(message));

function reading(canRestart: boolean) {
  const rows: string[] = [];
  const reader = new ResultReader({
    newReader: () => new TextColumnReader(),
    onBatch: ({ body }) => void rows.push(body.toString()),
    restart: () => {
      if (canRestart) rows.length = 0;
      return canRestart;
    },
  });
  const send = (task: typeof A) => {
    const take = reader.reader(task);
    return async (row: string): Promise<void> => {
      for (const message of messages(row)) await take(message);
    };
  };
  return { rows, reader, send };
}

test('one task after the other: who comes second waits until the first has ended', async () => {
  const { rows, reader, send } = reading(true);
  await send(A)('a1');
  const second = send(B)('b1');
  await setImmediate();
  expect(rows).toEqual(['a1']);
  expect([reader.hasDelivered(A), reader.hasDelivered(B)]).toEqual([true, false]);
  reader.ended(A);
  await second;
  expect(rows).toEqual(['a1', 'b1']);
});

test('when the first one failed the result begins again, and what waited is not lost', async () => {
  const { rows, reader, send } = reading(true);
  await send(A)('a1');
  const second = send(B)('b1');
  expect(reader.restart()).toBe(true);
  reader.ended(A);
  await second;
  expect(rows).toEqual(['b1']);
  expect(reader.hasDelivered(A)).toBe(false);
});

test('whenever another comes while the next one begins, only one of them has its turn, and the count of each is that of its rows', async () => {
  for (let turns = 0; turns < 8; turns += 1) {
    const { rows, reader, send } = reading(true);
    await send(A)('a1');
    const waiting = send(B)('b1');
    await setImmediate();
    reader.ended(A);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    const coming = send(C)('c1');
    await setImmediate();
    // Whoever is first is read to its end: were the result to begin again because it fails, rows of the other would be lost.
    const first = reader.hasDelivered(B) ? B : C;
    expect([reader.rowsOf(B) + reader.rowsOf(C), rows.length], `${turns} turns`).toEqual([1, 2]);
    reader.ended(first);
    await Promise.all([waiting, coming]);
    expect(rows.toSorted()).toEqual(['a1', 'b1', 'c1']);
    expect([A, B, C].map((task) => reader.rowsOf(task))).toEqual([1, 1, 1]);
  }
});

test('a closed one delivers nothing any more, neither what waits nor what comes', async () => {
  const { rows, reader, send } = reading(true);
  await send(A)('a1');
  const second = send(B)('b1');
  reader.close();
  reader.ended(A);
  await second;
  await send(C)('c1');
  expect(rows).toEqual(['a1']);
});
