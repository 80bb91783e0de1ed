import { expect, test } from 'vitest';
import { binaryElements, binaryText } from './binary-text.ts';
import { readArray, readBoolean, readBytes, readInteger, readMoment } from './read-text.ts';

/** The bytes by Postgres' sources (`numeric_send`, `date_send`, ...). */
test.each([
  ['bool', '01', 'true'],
  ['int2', 'fffe', '-2'],
  ['int8', '8000000000000000', '-9223372036854775808'],
  ['float8', '3fb999999999999a', '0.1'],
  ['float8', '8000000000000000', '-0.0'],
  ['numeric', '0000000000000000', '0'],
  ['numeric', '0001ffff0000000201f4', '0.05'],
  ['numeric', '0003000140000002007b11d71f40', '-1234567.80'],
  ['numeric', '00010001000000000001', '10000'],
  ['numeric', '0001fffe0000000603e8', '0.000010'],
  ['numeric', '00000000c0000000', 'NaN'],
  ['uuid', '0a00000000000000000000000000000f', '0a000000-0000-0000-0000-00000000000f'],
  ['interval', '00000000003d0900fffffffd0000000e', '14 months -3 days 4000000 microseconds'],
  ['jsonb', '017b7d', '{}'],
  ['bytea', '00ff', '\\x00ff'],
  ['date', '00000001', '2000-01-02'],
  ['date', 'fff49bc4', '0045-01-01 (BC)'],
  ['date', '7fffffff', 'infinity'],
  ['time', '000000141dd75fff', '23:59:59.999999'],
  ['timestamp', 'fffffffffff85ee0', '1999-12-31 23:59:59.500000'],
  ['timestamptz', '0000000000000000', '2000-01-01 00:00:00.000000+00'],
  ['timestamptz', '8000000000000000', '-infinity'],
] as const)('%s %s is %s', (kind, hex, text) => {
  expect(binaryText(kind, Buffer.from(hex, 'hex'))).toBe(text);
});

test('arrays in binary; bytes that are no value', () => {
  const elements = (hex: string): unknown => binaryElements(Buffer.from(hex, 'hex')).map((one) => one?.toString('hex'));
  expect(elements('000000000000000000000017')).toEqual([]);
  expect(elements('00000001000000010000001700000002000000010000000400000007ffffffff')).toEqual(['00000007', undefined]);
  for (const hex of [
    '',
    '00000001000000010000001700000002000000010000000400000007',
    '000000010000000100000017ffffffff00000001',
  ]) {
    expect(() => elements(hex)).toThrow('incorrect binary data format');
  }
  expect(() => elements('0000000200000000000000170000000100000001')).toThrow('one dimension');
  expect(() => binaryText('int4', Buffer.alloc(3))).toThrow('incorrect binary data format');
  expect(() => binaryText('numeric', Buffer.from('0001000000000000270f', 'hex'))).not.toThrow();
  expect(() => binaryText('numeric', Buffer.from('0001000000000000ffff', 'hex'))).toThrow('incorrect');
});

test.each([
  ['{}', []],
  ['{1,NULL,3}', ['1', null, '3']],
  [' { a , "b c" ,"","null", x\\"y,\\N } ', ['a', 'b c', '', 'null', 'x"y', 'N']],
  ['[0:1]={1,2}', ['1', '2']],
  ['{"a,b","\\\\"}', ['a,b', '\\']],
])('the array %s', (text, elements) => {
  expect(readArray(text)).toEqual(elements);
});

test.each(['', '1', '{', '{1,}', '{,1}', '{"a}', '{"a"b}', '{a"b"}', '{1}2}', '[0:1]', '{a{b}'])(
  '%s is no array',
  (text) => {
    expect(() => readArray(text)).toThrow('malformed array literal');
  },
);

test('arrays of arrays are not taken', () => {
  for (const text of ['{{1},{2}}', '[1:1][1:1]={{1}}']) expect(() => readArray(text)).toThrow('one dimension');
});

test('truth, integers, bytes, moments', () => {
  expect(['t', ' TRUE ', 'y', 'on', '1', 'f', 'No', 'of', '0'].map(readBoolean)).toEqual([
    ...Array.from({ length: 5 }, () => true),
    ...Array.from({ length: 4 }, () => false),
  ]);
  for (const text of ['', 'o', '2', 'truer']) expect(() => readBoolean(text)).toThrow('type boolean');
  expect([' 12 ', '-7', '0x1F', '1_000', '-0b11'].map((text) => readInteger(text, 'integer'))).toEqual([
    '12',
    '-7',
    '31',
    '1000',
    '-3',
  ]);
  for (const text of ['', '1.5', '1e3', 'x'])
    expect(() => readInteger(text, 'integer')).toThrow(`type integer: "${text}"`);
  expect(['\\x00fF', 'a\\\\b\\377', 'ä', ''].map((text) => readBytes(text).toString('hex'))).toEqual([
    '00ff',
    '615c62ff',
    'c3a4',
    '',
  ]);
  for (const text of ['\\x0', '\\xzz', 'a\\b']) expect(() => readBytes(text)).toThrow('invalid');
  expect(['2024-01-01', '0044-03-15 BC', '0044-03-15 12:00:00+00 BC'].map(readMoment)).toEqual([
    '2024-01-01',
    '0044-03-15 (BC)',
    '0044-03-15 (BC) 12:00:00+00',
  ]);
});
