import { machineSlowness } from './machine-speed.ts';

const NAME = 'TEST_SLOWNESS';

/** Measures how slow the machine is, for this process and those that it starts. `vitest.config.ts` calls it. */
export function calibrate(): number {
  const known = Number(process.env[NAME]);
  if (known >= 1) return known;
  const slowness = machineSlowness();
  process.env[NAME] = slowness.toFixed(2);
  return slowness;
}

/** A time after which a test gives up waiting, on a machine as slow as this one: it must say nothing of the product. */
export const patience = (milliseconds: number): number => Math.round(milliseconds * calibrate());
