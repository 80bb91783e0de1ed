import { SkeinError } from '#shared/error.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { Tokenizer } from '#shared/sql/tokenizer.ts';

/** A constant as a client gives it; the digits of a number are kept as they were written. `literal` is SQL that the planner has printed. */
export type Constant =
  | null
  | boolean
  | string
  | { readonly digits: string }
  | { readonly literal: string }
  | readonly Constant[];

/** A value for a parameter. Without a type it means what the same literal means in SQL. */
export type Parameter = { readonly type: string | null; readonly value: Constant };

/** The values for `?` and `$1`, by position, or for `$name`. */
export type Parameters =
  | { readonly kind: 'positional'; readonly values: readonly Parameter[] }
  | { readonly kind: 'named'; readonly values: readonly (readonly [name: string, value: Parameter])[] }
  /**
   * A statement that is prepared or described has no values yet; `types` are those of `$1`, `$2`, ... as far as they are declared; an empty one is not. `literal`
   * takes the place of each; absent = NULL.
   */
  | { readonly kind: 'unknown'; readonly types: readonly string[]; readonly literal?: string };

/** Values that a statement may be given. */
export const PARAMETERS_MAX = 10_000;
/** Longest name of a type, in characters. */
const TYPE_LENGTH_MAX = 10_000;
const NUMBER = /^(-?)(\d{1,1000}(?:\.\d{1,1000})?(?:[eE][+-]?\d{1,1000})?)$/;

/** Approximate bytes of the values in a text that names each of them once. */
export function sizeOf(parameters: Parameters): number {
  if (parameters.kind === 'unknown') return parameters.types.reduce((bytes, type) => bytes + type.length, 0);
  const values =
    parameters.kind === 'positional' ? parameters.values : parameters.values.map(([_name, parameter]) => parameter);
  return values.reduce((bytes, { value }) => bytes + constantSize(value), 0);
}

function constantSize(value: Constant): number {
  if (value === null || typeof value === 'boolean') return 1;
  if (typeof value === 'string') return Buffer.byteLength(value);
  if ('digits' in value) return value.digits.length;
  if ('literal' in value) return Buffer.byteLength(value.literal);
  return value.reduce<number>((bytes, item) => bytes + constantSize(item), 0);
}

const invalid = (message: string): SkeinError => new SkeinError('INVALID_REQUEST', message);

/** Prints a value as an SQL expression that can be inserted anywhere. @throws INVALID_REQUEST */
export const printParameter = ({ type, value }: Parameter): string =>
  type === null ? printConstant(value) : `CAST(${printConstant(value)} AS ${checkedType(type)})`;

function printConstant(value: Constant): string {
  if (value === null) return 'NULL';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') {
    if (value.includes('\0')) throw invalid('a parameter may not hold a NUL character');
    // In brackets, because a string on one line continues a string on the line before.
    return `(${quoteLiteral(value)})`;
  }
  if ('digits' in value) {
    const [, sign, number] = NUMBER.exec(value.digits) ?? [];
    if (number === undefined) throw invalid('a parameter is no number');
    return sign === '' ? number : `(-${number})`;
  }
  if ('literal' in value) return `(${value.literal})`;
  return `[${value.map(printConstant).join(', ')}]`;
}

const TYPE_SYMBOLS: ReadonlySet<string> = new Set(['(', ')', '[', ']', ',']);

/** @throws INVALID_REQUEST */
function checkedType(type: string): string {
  if (isTypeText(type)) return type;
  throw invalid(`${JSON.stringify(type.slice(0, 100))} is not the type of a parameter`);
}

/** Whether a text has nothing but names, numbers, texts and closed brackets, as a type has, so that it ends where the CAST around it ends. */
export function isTypeText(type: string): boolean {
  if (type.length > TYPE_LENGTH_MAX || type.includes('\0')) return false;
  const tokens = new Tokenizer(type);
  let depth = 0;
  let end = 0;
  try {
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      const symbol = token.kind === 'symbol' ? type.slice(token.start, token.end) : '';
      if (token.kind === 'parameter' || token.kind === 'bits') return false;
      if (token.kind === 'symbol' && !TYPE_SYMBOLS.has(symbol)) return false;
      depth += symbol === '(' ? 1 : symbol === ')' ? -1 : 0;
      if (depth < 0) return false;
      end = token.end;
    }
  } catch {
    return false;
  }
  // An unclosed bracket or a comment at the end would change the meaning of the text that follows.
  return depth === 0 && end > 0 && !/\S/.test(type.slice(end));
}
