/** Figures and times as people read them. Times are those of the reader's own zone. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function printBytes(bytes: number): string {
  let power = 0;
  // A figure that would be rounded to 1024 is told in the next unit.
  while (power < UNITS.length - 1 && Math.round(bytes / 2 ** (10 * power)) >= 1_024) power += 1;
  const value = bytes / 2 ** (10 * power);
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power] ?? ''}`;
}

export function printMs(ms: number): string {
  const whole = Math.round(ms);
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 59_950) return `${(whole / 1_000).toFixed(1)} s`;
  // Rounded before it is divided: no minute has 60 seconds more.
  const seconds = Math.round(whole / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export const printCount = (count: number): string => count.toLocaleString('en');

/** @param time of the server, in ISO 8601 */
export const printTime = (time: string): string =>
  new Date(time).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' });
