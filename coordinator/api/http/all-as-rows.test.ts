import { expect, test } from 'vitest';
import type { Encoding, ResultShape } from '../../sink/result-sink.ts';
import { AllAsRows, type RowsBody } from './all-as-rows.ts';

function bodyOf(encoding: Encoding): { readonly body: RowsBody; readonly parts: unknown[] } {
  const parts: unknown[] = [];
  const body: RowsBody = {
    encoding,
    committed: false,
    progress: 0,
    start: ({ columns }) => void parts.push(columns.map(({ name, typeName }) => `${name} ${typeName}`)),
    batch: ({ body: bytes, header }) => void parts.push(encoding === 'json' ? bytes.toString() : header !== null),
    finish: ({ rowCount }) => void parts.push(rowCount),
  };
  return { body, parts };
}

const finish = (shape: ResultShape, encoding: Encoding): unknown[] => {
  const { body, parts } = bodyOf(encoding);
  const sink = new AllAsRows(body);
  sink.planned(shape);
  sink.changed(7);
  sink.finish({ rowCount: 1, elapsedMs: 1 });
  return parts;
};

test('a number of changed rows is one row', () => {
  const shape = { kind: 'count', tag: 'INSERT' } as const;
  expect(finish(shape, 'json')).toEqual([['count BIGINT'], ',[7]', 1]);
  expect(finish(shape, 'arrow')).toEqual([['count BIGINT'], true, 1]);
});

test('a statement without a result answers its status', () => {
  const shape = { kind: 'nothing', tag: 'CREATE TABLE', status: 'CREATE TABLE (with a note)' } as const;
  expect(finish(shape, 'json')).toEqual([['status VARCHAR'], ',["CREATE TABLE (with a note)"]', 1]);
});

test('rows begin as they were planned, and again', () => {
  const { body, parts } = bodyOf('json');
  const sink = new AllAsRows(body);
  const columns = [{ name: 'a', typeName: 'DATE', type: { kind: 'scalar', name: 'DATE' } }] as const;
  sink.planned({ kind: 'rows', tag: 'SELECT', columns, timeZone: 'UTC' });
  expect(parts).toEqual([]);
  sink.start();
  sink.start();
  sink.finish({ rowCount: 0, elapsedMs: 1 });
  expect(parts).toEqual([['a DATE'], ['a DATE'], 0]);
});
