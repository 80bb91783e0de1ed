/** The least number that is printed with separators. */
const GROUPED_MIN = 1_000;

/** Prints a number for people, in whole ones: `2,000,000`. A small one, as most are, does not need the locale's rules, which take microseconds. */
export function printCount(count: number): string {
  const whole = Math.round(count);
  return whole >= 0 && whole < GROUPED_MIN ? String(whole) : whole.toLocaleString('en-US');
}
