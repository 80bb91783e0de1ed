/** The greatest distance from 1970, in ms, of which JavaScript knows the zone's offset. */
const ZONED_MS_MAX = 8.64e15;
/** Offsets change at such times at most, in ms. */
const OFFSET_STEP_MS = 60_000;
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?/;

/** The offsets of a zone, in seconds, by instants. The last one is kept: neighbours are often alike. */
export function zoneOffsets(timeZone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  let [step, last] = [Number.NaN, 0];
  return (ms) => {
    const at = Math.floor(Math.min(ZONED_MS_MAX, Math.max(-ZONED_MS_MAX, ms)) / OFFSET_STEP_MS);
    if (at === step) return last;
    const name = format
      .formatToParts(Math.max(-ZONED_MS_MAX, at * OFFSET_STEP_MS))
      .find(({ type }) => type === 'timeZoneName');
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = OFFSET.exec(name?.value ?? '') ?? [];
    const size = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    [step, last] = [at, sign === '-' ? -size : size];
    return last;
  };
}
