import { describe, expect, test } from 'vitest';
import { identifierText, stringText, Tokenizer, withPlainSpaces, type Token } from './tokenizer.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

function tokensOf(text: string): Token[] {
  const tokenizer = new Tokenizer(text);
  const tokens: Token[] = [];
  for (let token = tokenizer.next(); token.kind !== 'end'; token = tokenizer.next()) tokens.push(token);
  return tokens;
}

/** `kind:text` of every token. */
const printed = (text: string): string[] =>
  tokensOf(text).map(({ kind, start, end }) => `${kind}:${text.slice(start, end)}`);

describe('tokens end where those of DuckDB 1.5.5 end', () => {
  test.each<[string, readonly string[]]>([
    ['a$b "c""d" #1', ['word:a$b', 'quoted:"c""d"', 'symbol:#', 'number:1']],
    ['1 --x\r, 2 --y\n/* /* */ b */ 3', ['number:1', 'symbol:,', 'number:2', 'number:3']],
    ['@--1', ['symbol:@']],
    ['*/* a */+', ['symbol:*', 'symbol:+']],
    ["'a''b' 'c'", ["string:'a''b'", "string:'c'"]],
    ["'a'\n'b'", ["string:'a'\n'b'"]],
    ["'a' --'x'\r \t 'b' 'c'", ["string:'a' --'x'\r \t 'b'", "string:'c'"]],
    ["'a'/**/\n'b'", ["string:'a'", "string:'b'"]],
    ["E'a\\''\n'b\\\\'x", ["string:E'a\\''\n'b\\\\'", 'word:x']],
    ["B'1''0' x'1f'", ["bits:B'1'", "string:'0'", "bits:x'1f'"]],
    ["N'a' somee'\\'", ['word:N', "string:'a'", 'word:somee', "string:'\\'"]],
    ["1_e'\\'", ['number:1', 'word:_e', "string:'\\'"]],
    ["0b1e'\\'", ['number:0', 'word:b1e', "string:'\\'"]],
    ["$1e'\\''", ['parameter:$1', "string:e'\\''"]],
    ["0xFFe'\\'", ['number:0', 'word:xFFe', "string:'\\'"]],
    ['0x1f 1__2 1_2_', ['number:0', 'word:x1f', 'number:1', 'word:__2', 'number:1_2', 'word:_']],
    [
      '1.2.3 1..2 1.e5 1.e',
      ['number:1.2', 'number:.3', 'number:1', 'symbol:..', 'number:2', 'number:1.e5', 'number:1.', 'word:e'],
    ],
    ['.5e3 1e+ 1e5_0 1e_5', ['number:.5e3', 'number:1', 'word:e', 'symbol:+', 'number:1e5_0', 'number:1', 'word:e_5']],
    ['$a$ $b $a$ $é$ x $é$', ['string:$a$ $b $a$', 'string:$é$ x $é$']],
    ['$$a$b$$ $a$b$a$ $x a$$b$$', ['string:$$a$b$$', 'string:$a$b$a$', 'symbol:$', 'word:x', 'word:a$$b$$']],
    ['a\u2028b a\u200cb \u1680 \u0085', ['word:a\u2028b', 'word:a\u200cb', 'word:\u1680', 'word:\u0085']],
    ['a\u200bb\ufeff\u00a0c\u3000d', ['word:a', 'word:b', 'word:c', 'word:d']],
    ['a\u000bb', ['word:a', 'symbol:\u000b', 'word:b']],
  ])('%j', (text, expected) => {
    expect(printed(text)).toEqual(expected);
  });
});

test.each([
  ["'a''b'", "a'b"],
  ["'a' --'x'\n'b'\r'c'", 'abc'],
  ["E'a\\tb\\'c''d\\\\\\e'", "a\tb'c'd\\e"],
  ["e'\\x41\\102\\u00e9\\U0001f986\\xc3\\xa9'", 'AB\u00e9\u{1f986}\u00e9'],
  ["E'a\\\n'\n'b'", 'a\nb'],
  ["$a$ '$b$ $a$", " '$b$ "],
])('the value of %j', (text, value) => {
  const [token] = tokensOf(text);
  expect(token && stringText(text, token)).toBe(value);
  expect(token && identifierText(text, token)).toBe(value);
});

describe('wide spaces become plain ones in the same places', () => {
  test.each([
    ['a\u00a0b', 'a b'],
    ["a\u00a0/* don't \u00a0\n */ '\u00a0' -- \u00a0", "a           \n    '\u00a0'     "],
    ["E'\\'\u00a0\\\\', '\u00a0'\u3000x", "E'''\u00a0\\\\', '\u00a0' x"],
    ["'\u00a0'\u200b -- it's \u00a0\n'\u00a0'", "'\u00a0'           \n'\u00a0'"],
    ["b'1'\u200b -- it's\n'0'", "b'1'         \n'0'"],
    ["a 'x' -- don't", "a 'x' -- don't"],
    ['"\u00a0" $$\u00a0$$ \u200c', '"\u00a0" $$\u00a0$$ \u200c'],
  ])('%j', (text, expected) => {
    expect(withPlainSpaces(text)).toBe(expected);
    expect(expected).toHaveLength(text.length);
  });
});

test('a long text is read in linear time', () => {
  const started = performance.now();
  for (const piece of ['--', "'a'\n", '$a', '/*', '"', "E'\\", '1_', '- ', "'a' --x\n"]) {
    try {
      tokensOf(piece.repeat(200_000));
    } catch (error) {
      expect(String(error)).toMatch(/is not closed/);
    }
  }
  expect(performance.now() - started).toBeLessThan(5_000 * machineSlowness());
});

test.each(['a', 'é', '1', '1_1', '1.1e1', "''"])('a token of millions of characters, made of %s, is one', (piece) => {
  const text = piece === "''" ? `'${piece.repeat(6_000_000)}'` : piece.repeat(12_000_000 / piece.length);
  const [first] = tokensOf(piece === '1.1e1' ? `1.${'1'.repeat(12_000_000)}e1` : text);
  expect(first?.end).toBeGreaterThanOrEqual(text.length);
});
