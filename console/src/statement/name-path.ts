/**
 * The parts of a text between signs (dots of a path, commas of a list), as SQL reads them: a part in double quotes may have any sign. A part
 * without quotes is taken as it stands, without the spaces around it.
 */
export function namesIn(text: string, between: '.' | ','): readonly string[] {
  const parts: string[] = [];
  let part = '';
  let isQuoted = false;
  for (const sign of text) {
    if (sign === between && !isQuoted) {
      parts.push(part);
      part = '';
      continue;
    }
    // Two quotes within quotes end them and begin them again.
    if (sign === '"') isQuoted = !isQuoted && (part.trim() === '' || part.trim().startsWith('"'));
    part += sign;
  }
  return [...parts, part].map(withoutQuotes);
}

function withoutQuotes(part: string): string {
  const text = part.trim();
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
}
