const FIXED_SEED = 20_261_122;
const SEEDS = 2 ** 31;

/** `TEST_SEED`, as the services refuse a `SKEIN_` variable that is no setting; undefined when it is not given. */
const givenSeed = (): number | undefined =>
  process.env['TEST_SEED'] === undefined ? undefined : Number(process.env['TEST_SEED']);

/** What `npm test` draws from: always the same, unless `TEST_SEED` says otherwise. */
export const fixedSeed = (): number => givenSeed() ?? FIXED_SEED;

/** What the long runs draw from: another each time, which they print, unless `TEST_SEED` repeats one. */
export const newSeed = (): number => givenSeed() ?? Math.floor(Math.random() * SEEDS);
