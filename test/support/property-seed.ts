import fc from 'fast-check';
import { fixedSeed } from './seed.ts';

/** Before every test file: random properties draw from this seed unless they name their own, so that a red run is red again everywhere. */
fc.configureGlobal({ seed: fixedSeed() });
