/** Figures and times as people read them. Times are those of the reader's own zone. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function printBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 2 ** (10 * power);
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power] ?? ''}`;
}

export function printMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

export const printCount = (count: number): string => count.toLocaleString('en');

/** @param time of the server, in ISO 8601 */
export const printTime = (time: string): string =>
  new Date(time).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' });
