import { expect, test } from 'vitest';
import { CountedSink } from './counted-sink.ts';
import type { OutputColumn, ResultShape, ResultSink } from './result-sink.ts';

const column = (name: string, type: string): OutputColumn => ({
  name,
  typeName: type,
  type: { kind: 'scalar', name: type },
});
const rows = (...columns: readonly OutputColumn[]): ResultShape => ({
  kind: 'rows',
  tag: 'SELECT',
  columns,
  timeZone: 'UTC',
});
const told = rows(column('a', 'INTEGER'), column('b', 'VARCHAR'));

function sinkOf(): { readonly sink: CountedSink; readonly calls: unknown[] } {
  const calls: unknown[] = [];
  const door: ResultSink = {
    encoding: 'json',
    committed: false,
    progress: 0,
    planned: (shape) => void calls.push(['planned', shape]),
    start: () => void calls.push('start'),
    batch: () => undefined,
    hold: () => undefined,
    release: () => Promise.resolve(),
    changed: (count) => void calls.push(['changed', count]),
    finish: ({ rowCount }) => void calls.push(['finish', rowCount]),
  };
  return { sink: new CountedSink(door), calls };
}

test('a statement that is planned again tells its door nothing new', () => {
  const { sink, calls } = sinkOf();
  sink.planned(told);
  sink.start();
  sink.planned(rows(column('a', 'INTEGER'), column('b', 'VARCHAR')));
  sink.start();
  expect(calls).toEqual([['planned', told], 'start', 'start']);
});

test.each([
  ['another type', rows(column('a', 'BIGINT'), column('b', 'VARCHAR'))],
  ['another name', rows(column('a', 'INTEGER'), column('c', 'VARCHAR'))],
  ['one more column', rows(column('a', 'INTEGER'), column('b', 'VARCHAR'), column('c', 'DATE'))],
  ['another order', rows(column('b', 'VARCHAR'), column('a', 'INTEGER'))],
  ['no rows', { kind: 'count', tag: 'INSERT' } as const],
])('when it has %s by then, it is refused', (_what, now) => {
  const { sink, calls } = sinkOf();
  sink.planned(told);
  expect(() => sink.planned(now)).toThrow(
    expect.objectContaining({ code: 'COLUMNS_CHANGED', entry: expect.objectContaining({ sqlState: '0A000' }) }),
  );
  expect(calls).toHaveLength(1);
});

test('a count and a status are one row, as HTTP answers them', () => {
  for (const shape of [
    { kind: 'count', tag: 'INSERT' },
    { kind: 'nothing', tag: 'SET', status: 'SET' },
  ] as const) {
    const { sink, calls } = sinkOf();
    sink.planned(shape);
    sink.changed(7);
    sink.check(1);
    sink.finish({ rowCount: 1, elapsedMs: 1 });
    expect(calls).toEqual([
      ['planned', shape],
      ['changed', 7],
      ['finish', 1],
    ]);
  }
});
