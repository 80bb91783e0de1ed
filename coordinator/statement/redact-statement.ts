import { stringText, Tokenizer } from './tokenizer.ts';

const SECRET_WORDS = /PASSWORD|SECRET|TOKEN/i;
const MASK = "'***'";
/** From the first quote to the last: messages repeat, and cut, what stands in the statement. */
const QUOTED = /['"].*['"]/s;
/** Literals that are looked for in a message; of a statement with more no message is kept. */
const LITERALS_MAX = 1_000;
/** Shorter values are no secrets, and masking them would break the words of the message. */
const SECRET_LENGTH_MIN = 3;

/** A statement's text in pieces. `values`: those of the literals, and all that follows a quote that is never closed. */
type Pieces = { readonly between: readonly string[]; readonly values: readonly string[] };

/**
 * The statement as history and logs keep it: when it holds PASSWORD, SECRET or TOKEN anywhere, every string literal is masked, and so is
 * all that follows a quote that is never closed.
 */
export function redactStatement(text: string): string {
  return SECRET_WORDS.test(text) ? cut(text).between.join(MASK) : text;
}

/** An error's message as history keeps it: of a statement with masked literals neither their values nor anything in quotes. */
export function redactMessage(message: string, statement: string): string {
  if (!SECRET_WORDS.test(statement)) return message;
  const { values } = cut(statement);
  if (values.length === 0) return message;
  if (values.length > LITERALS_MAX) return MASK;
  let masked = message.replace(QUOTED, MASK);
  for (const value of values) if (value.length >= SECRET_LENGTH_MIN) masked = masked.replaceAll(value, '***');
  return masked;
}

function cut(text: string): Pieces {
  const tokens = new Tokenizer(text);
  const between: string[] = [];
  const values: string[] = [];
  let kept = 0;
  const take = (start: number, end: number, value: string): void => {
    between.push(text.slice(kept, start));
    values.push(value);
    kept = end;
  };
  try {
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      const { kind, start, end } = token;
      if (kind === 'string') take(start, end, stringText(text, token));
      else if (kind === 'bits') take(start, end, text.slice(start + 2, end - 1));
    }
  } catch {
    const open = text.slice(kept).search(/['"$]|\/\*/);
    const start = open < 0 ? kept : kept + open;
    take(start, text.length, openValue(text.slice(start)));
  }
  between.push(text.slice(kept));
  return { between, values };
}

/** What follows the quote that is never closed. */
const openValue = (rest: string): string => rest.replace(/^(?:['"]|\$[^$]*\$|\/\*)/, '').replaceAll("''", "'");
