const FIXED_SEED = 20_261_122;
const SEEDS = 2 ** 31;

/** `TEST_SEED`, as the services refuse a `SKEIN_` variable that is no setting; undefined when it is not given. */
const givenSeed = (): number | undefined =>
  process.env['TEST_SEED'] === undefined ? undefined : Number(process.env['TEST_SEED']);

/** Seed of `npm test`: always the same, unless `TEST_SEED` gives another. */
export const fixedSeed = (): number => givenSeed() ?? FIXED_SEED;

/** Seed of the long runs: another each time, which they print, unless `TEST_SEED` repeats one. */
export const newSeed = (): number => givenSeed() ?? Math.floor(Math.random() * SEEDS);
