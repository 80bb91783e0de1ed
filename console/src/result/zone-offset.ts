const formats = new Map<string, Intl.DateTimeFormat | null>();
/** Times beyond these a Date does not hold, in seconds. */
const DATE_S_MAX = 8_640_000_000_000;

/** How far a zone is ahead of UTC at a time, in seconds; 0 for a zone that this browser does not know. @param epochS since 1970 */
export function offsetAt(zone: string, epochS: number): number {
  if (zone === 'UTC' || Math.abs(epochS) > DATE_S_MAX) return 0;
  const format = formatOf(zone);
  if (format === null) return 0;
  const parts = new Map(format.formatToParts(epochS * 1_000).map(({ type, value }) => [type, value]));
  const read = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type) ?? 0);
  const local = new Date(0);
  const isBefore = parts.get('era')?.startsWith('B') === true;
  local.setUTCFullYear(isBefore ? 1 - read('year') : read('year'), read('month') - 1, read('day'));
  local.setUTCHours(read('hour') % 24, read('minute'), read('second'));
  return Math.round(local.getTime() / 1_000) - epochS;
}

function formatOf(timeZone: string): Intl.DateTimeFormat | null {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = make(timeZone);
  formats.set(timeZone, made);
  return made;
}

function make(timeZone: string): Intl.DateTimeFormat | null {
  const field = 'numeric' as const;
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      era: 'short',
      year: field,
      month: field,
      day: field,
      hour: field,
      minute: field,
      second: field,
    });
  } catch {
    return null;
  }
}
