import { decoderTarget } from './decoder-target.ts';
import { DECODERS } from './decoders.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { gateTarget } from './gate/gate-target.ts';
import { statementTarget } from './statements/statement-target.ts';

export const FUZZ_TARGETS: readonly FuzzTarget[] = [...DECODERS.map(decoderTarget), gateTarget, statementTarget];
