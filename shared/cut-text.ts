/** Maximum size of the mark that replaces the cut part. */
const MARK_BYTES_MAX = 48;
/** Browsers have it, too: errors of the tokenizer are made in the console. */
const UTF8 = new TextEncoder();
const byteLength = (text: string): number => UTF8.encode(text).length;

/**
 * Returns the text, or its two ends when it is longer than `bytesMax` bytes of UTF-8: the first half says what happened, the second often
 * where. A mark between them says how much was left out. Takes linear time, whatever the text holds.
 */
export function cutText(text: string, bytesMax: number): string {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= bytesMax) return text;
  const bytes = byteLength(text);
  if (bytes <= bytesMax) return text;
  return joinEnds(UTF8.encode(text.slice(0, bytesMax)), UTF8.encode(text.slice(-bytesMax)), bytes, bytesMax);
}

/**
 * Like `cutText`, for a text of `bytes` bytes of UTF-8 that need not be decoded completely: `first` and `last` are its first and last
 * `bytesMax` bytes, or more.
 */
export function joinEnds(first: Uint8Array, last: Uint8Array, bytes: number, bytesMax: number): string {
  const half = Math.max(0, Math.floor((bytesMax - MARK_BYTES_MAX) / 2));
  // A streaming decoder holds back an incomplete character.
  const head = new TextDecoder().decode(first.subarray(0, half), { stream: true });
  const tail = new TextDecoder().decode(wholeCharacters(last.subarray(last.length - half)));
  const leftOut = bytes - byteLength(head) - byteLength(tail);
  return `${head} [... ${leftOut} bytes left out ...] ${tail}`;
}

/** Drops the leading bytes of a character whose first byte is missing. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
