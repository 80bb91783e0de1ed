/** Dates, times and intervals as DuckDB prints them. */

const SECONDS_PER_DAY = 86_400n;
const INFINITE_DAYS = 2_147_483_647;
const INFINITE = 2n ** 63n - 1n;

/** Days since 1970-01-01 as a date: `2024-02-29`, `0044-03-15 (BC)`, `infinity`. */
export function dateText(days: number): string {
  if (days === INFINITE_DAYS) return 'infinity';
  return days === -INFINITE_DAYS ? '-infinity' : civilDate(days);
}

/** By days and eras of 400 years (Howard Hinnant, chrono-compatible low-level date algorithms): JavaScript's dates end before DuckDB's. */
function civilDate(days: number): string {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const shown = year > 0 ? year : 1 - year;
  return `${String(shown).padStart(4, '0')}-${two(month)}-${two(day)}${year > 0 ? '' : ' (BC)'}`;
}

const two = (value: number | bigint): string => String(value).padStart(2, '0');

/** A time of day, in parts of a second of which a second has `perSecond`: `12:34:56.7`. */
export function timeText(parts: bigint, perSecond: bigint): string {
  const seconds = parts / perSecond;
  const clock = `${two(seconds / 3_600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
  const rest = parts % perSecond;
  if (rest === 0n) return clock;
  const digits = String(rest).padStart(String(perSecond).length - 1, '0');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return `${clock}.${digits.slice(0, end)}`;
}

/** A timestamp, in parts of a second since 1970; `offset` is the zone's, in seconds, at an instant. */
export function timestampText(parts: bigint, perSecond: bigint, offset?: (ms: number) => number): string {
  if (parts === INFINITE) return 'infinity';
  if (parts === -INFINITE) return '-infinity';
  if (offset === undefined) return dateTimeText(parts, perSecond);
  const seconds = offset(Number(floorDivide(parts * 1_000n, perSecond)));
  return `${dateTimeText(parts + BigInt(seconds) * perSecond, perSecond)}${offsetText(seconds)}`;
}

function dateTimeText(parts: bigint, perSecond: bigint): string {
  const perDay = perSecond * SECONDS_PER_DAY;
  const days = floorDivide(parts, perDay);
  return `${civilDate(Number(days))} ${timeText(parts - days * perDay, perSecond)}`;
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value < 0n && quotient * by !== value ? quotient - 1n : quotient;
}

/** `+09`, `-03:30`; DuckDB leaves the seconds of old offsets out. */
function offsetText(seconds: number): string {
  const size = Math.abs(seconds);
  const [hours, minutes] = [Math.floor(size / 3_600), Math.floor(size / 60) % 60];
  const more = minutes > 0 ? `:${two(minutes)}` : '';
  return `${seconds < 0 ? '-' : '+'}${two(hours)}${more}`;
}

const NANOS_PER_MICRO = 1_000n;
const MICROS_PER_SECOND = 1_000_000n;

/** `1 year 2 months 3 days 04:05:06.5` */
export function intervalText(months: number, days: number, nanos: bigint): string {
  const years = Math.trunc(months / 12);
  const micros = nanos / NANOS_PER_MICRO;
  const named = (
    [
      [years, 'year'],
      [months - years * 12, 'month'],
      [days, 'day'],
    ] as const
  ).flatMap(([count, unit]) => (count === 0 ? [] : [`${count} ${unit}${Math.abs(count) === 1 ? '' : 's'}`]));
  if (micros === 0n && named.length > 0) return named.join(' ');
  const time = `${micros < 0n ? '-' : ''}${timeText(micros < 0n ? -micros : micros, MICROS_PER_SECOND)}`;
  return [...named, time].join(' ');
}
