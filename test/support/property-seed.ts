import fc from 'fast-check';

/**
 * Before every test file: random properties draw from this seed unless they name their own, so that a red run is red again, on every
 * machine. `TEST_SEED=7 npm test` draws others. (Not `SKEIN_TEST_SEED`: the services that tests start refuse a `SKEIN_` variable that is no
 * setting.)
 */
fc.configureGlobal({ seed: Number(process.env['TEST_SEED'] ?? 20_261_122) });
