import { Tokenizer } from './tokenizer.ts';

const SECRET_WORDS = /PASSWORD|SECRET|TOKEN/i;
const MASK = "'***'";

/**
 * The statement as history and logs keep it: when it holds PASSWORD, SECRET or TOKEN anywhere, every string literal is masked, and so is
 * all that follows a quote that is never closed.
 */
export function redactStatement(text: string): string {
  if (!SECRET_WORDS.test(text)) return text;
  const tokens = new Tokenizer(text);
  const parts: string[] = [];
  let kept = 0;
  try {
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      if (token.kind !== 'string') continue;
      parts.push(text.slice(kept, token.start), MASK);
      kept = token.end;
    }
    parts.push(text.slice(kept));
  } catch {
    const open = text.slice(kept).search(/['"$]|\/\*/);
    parts.push(text.slice(kept, open < 0 ? kept : kept + open), MASK);
  }
  return parts.join('');
}
