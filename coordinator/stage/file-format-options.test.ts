import { describe, expect, test } from 'vitest';
import type { FileFormat } from '#shared/stage/file-format.ts';
import { StatementReader } from '../statement/statement-reader.ts';
import { fileFormatOf } from './file-format-options.ts';
import { takeBracketedOptions } from './take-options.ts';

function formatOf(text: string): FileFormat {
  const reader = new StatementReader({ text, offset: 0 });
  const options = takeBracketedOptions(reader);
  reader.end();
  return fileFormatOf(options);
}

describe('FILE_FORMAT', () => {
  test('is CSV without options', () => {
    expect(formatOf('()')).toEqual({
      kind: 'csv',
      compression: 'auto',
      delimiter: ',',
      quote: '"',
      escape: '"',
      header: { kind: 'lines', count: 0 },
      nulls: ['\\N', ''],
      countsFields: true,
      dateFormat: null,
      timestampFormat: null,
    });
  });

  test('has the options of Snowflake, with or without commas', () => {
    const text = `(TYPE = 'csv' FIELD_DELIMITER = '|', SKIP_HEADER = 2 FIELD_OPTIONALLY_ENCLOSED_BY = NONE,
      NULL_IF = ('NULL', '-') EMPTY_FIELD_AS_NULL = FALSE DATE_FORMAT = 'DD.MM.YYYY' COMPRESSION => gzip)`;
    expect(formatOf(text)).toMatchObject({
      delimiter: '|',
      quote: null,
      escape: null,
      header: { kind: 'lines', count: 2 },
      nulls: ['NULL', '-'],
      dateFormat: '%d.%m.%Y',
      compression: 'gzip',
    });
  });

  test.each<[string, FileFormat['kind'], object]>([
    ['(TYPE = JSON)', 'json', { layout: 'lines' }],
    ['(TYPE = JSON STRIP_OUTER_ARRAY = TRUE)', 'json', { layout: 'array' }],
    ['(TYPE = JSON MULTI_LINE = TRUE)', 'json', { layout: 'documents' }],
    ['(TYPE = PARQUET)', 'parquet', {}],
  ])('%s', (text, kind, expected) => {
    expect(formatOf(text)).toMatchObject({ kind, ...expected });
  });

  test.each([
    ['(TYPE = AVRO)', 'NOT_SUPPORTED', 1, 'TYPE = AVRO is not served'],
    ['(TYPE = CSVX)', 'SYNTAX_ERROR', 1, 'TYPE is one of CSV, JSON, PARQUET'],
    ['(TYPE = CSV SKIP_HEADR = 1)', 'SYNTAX_ERROR', 12, 'has no option SKIP_HEADR'],
    ['(TYPE = PARQUET SKIP_HEADER = 1)', 'SYNTAX_ERROR', 16, 'has no option SKIP_HEADER'],
    ['(SKIP_HEADER = -1)', 'SYNTAX_ERROR', 15, 'the value of an option'],
    ['(SKIP_HEADER = 1.5)', 'SYNTAX_ERROR', 1, 'a number from 0'],
    ['(SKIP_HEADER = 1 SKIP_HEADER = 2)', 'SYNTAX_ERROR', undefined, 'given twice'],
    ['(SKIP_HEADER = 1 PARSE_HEADER = TRUE)', 'SYNTAX_ERROR', 1, 'is not given with PARSE_HEADER'],
    [`(FIELD_DELIMITER = '\n')`, 'SYNTAX_ERROR', 1, 'without line ends'],
    [`(FIELD_DELIMITER = '')`, 'SYNTAX_ERROR', 1, 'has one to 4 characters'],
    [`(FIELD_DELIMITER = '"')`, 'SYNTAX_ERROR', 1, 'is not the character that encloses fields'],
    [`(ESCAPE = 'ab')`, 'SYNTAX_ERROR', 1, 'is one character'],
    [`(ENCODING = 'latin1')`, 'SYNTAX_ERROR', 1, 'other encodings are not served'],
    [`(DATE_FORMAT = 'QQ')`, 'SYNTAX_ERROR', 1, 'elements that are not known'],
    [`(NULL_IF = (1))`, 'SYNTAX_ERROR', 1, 'a list of texts'],
    [`(NULL_IF = ((('a'))))`, 'SYNTAX_ERROR', undefined, ''],
  ])('%s is refused', (text, code, position, message) => {
    expect(() => formatOf(text)).toThrow(
      expect.objectContaining({
        code,
        message: expect.stringContaining(message) as string,
        ...(position === undefined ? {} : { position }),
      }),
    );
  });
});
