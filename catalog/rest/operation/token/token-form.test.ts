import { expect, test } from 'vitest';
import { parseTokenForm } from './token-form.ts';

const TYPE = 'application/x-www-form-urlencoded';
const parse = (
  text: string,
  type: string | undefined = TYPE,
  encoding?: string,
): Record<string, string | undefined> => ({
  ...parseTokenForm(Buffer.from(text, 'latin1'), type, encoding),
});

test('escapes, plus signs, empty values and a charset', () => {
  expect(parse('grant_type=a&scope=table%3Aread+catalog&x=%C3%A9&empty=&bare&', `${TYPE}; charset=UTF-8`)).toEqual({
    grant_type: 'a',
    scope: 'table:read catalog',
    x: 'é',
  });
  expect(parse('a=b=c')).toEqual({ a: 'b=c' });
  expect(parse('audience=a&audience=b&resource=c&resource=d&g=1')).toEqual({ g: '1' });
  expect(parse('__proto__=x&constructor=y')).toMatchObject({ constructor: 'y' });
  expect(parse('')).toEqual({});
});

test.each([
  ['a parameter twice', 'scope=a&scope=b'],
  ['a parameter twice, once empty', 'scope=&scope=b'],
  ['one parameter spelt in two ways', 'scope=a&sc%6Fpe=b'],
  ['a broken escape', 'scope=%zz'],
  ['half an escape', 'scope=%4'],
  ['an escape that is no UTF-8', 'scope=%ff'],
  ['a NUL', 'client_id=a%00b'],
  ['a line end', 'client_id=a%0d%0Ab'],
])('%s is invalid_request', (_what, text) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'invalid_request', status: 400 }));
});

test.each([undefined, '', 'application/json', 'multipart/form-data', 'application/x-www-form-urlencodedx'])(
  'the content type %j is invalid_request',
  (type) => {
    expect(() => parseTokenForm(Buffer.from('a=b'), type, undefined)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  },
);

test('a compressed body is invalid_request', () => {
  expect(() => parse('a=b', TYPE, 'gzip')).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});
