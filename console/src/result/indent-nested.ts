/** Longest text that is set out in lines. */
const INDENT_CHARS_MAX = 1_000_000;

/** A nested value or a JSON text in lines, without reading its numbers: every character stays. */
export function indentNested(text: string): string {
  if (text.length > INDENT_CHARS_MAX) return text;
  const lines = new Lines();
  for (let at = 0; at < text.length;) {
    const char = text.charAt(at);
    const end = char === '"' || char === "'" ? quotedEnd(text, at) : at + 1;
    lines.add(text.slice(at, end), text.slice(end).trimStart().charAt(0));
    at = end;
  }
  return lines.text;
}

class Lines {
  text = '';
  #depth = 0;
  #isLineStart = false;

  add(part: string, next: string): void {
    if ('[{'.includes(part)) {
      this.text += part;
      if (']}'.includes(next) && next !== '') return;
      this.#depth += 1;
      this.#break();
    } else if (']}'.includes(part)) {
      if (!/[[{]$/.test(this.text)) {
        this.#depth = Math.max(0, this.#depth - 1);
        this.#break();
      }
      this.text += part;
    } else if (part === ',') {
      this.text += part;
      this.#break();
    } else if (!this.#isLineStart || part.trim() !== '') this.text += part;
    if (part.trim() !== '' && !'[{,'.includes(part)) this.#isLineStart = false;
  }

  #break(): void {
    this.text = `${this.text.trimEnd()}\n${'  '.repeat(this.#depth)}`;
    this.#isLineStart = true;
  }
}

function quotedEnd(text: string, open: number): number {
  const quote = text.charAt(open);
  for (let at = open + 1; at < text.length; at += 1) {
    if (text.charAt(at) === '\\') at += 1;
    else if (text.charAt(at) === quote) return at + 1;
  }
  return text.length;
}
