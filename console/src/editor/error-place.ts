/**
 * Offset in the statement at which an error lies: the server's own (`X-Skein-Position`, in characters from 1), else the line and column of its
 * message.
 */
export function errorPlace({ position, message }: PlacedError, sql: string): number | null {
  if (position !== undefined)
    return Array.from(sql)
      .slice(0, position - 1)
      .join('').length;
  const place = /\(line (\d+), column (\d+)\)\s*$/.exec(message);
  if (place === null) return null;
  const [line, column] = [Number(place[1]), Number(place[2])];
  let start = 0;
  for (let i = 1; i < line; i += 1) start = sql.indexOf('\n', start) + 1;
  return Math.min(sql.length, start + column - 1);
}

type PlacedError = { readonly message: string; readonly position?: number | undefined };
