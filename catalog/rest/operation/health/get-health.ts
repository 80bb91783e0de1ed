import type { Answer } from '../../operation.ts';
import { ok } from '../../operation.ts';

/** `GET /health`: the process answers. */
export const getHealth = (): Promise<Answer> => Promise.resolve(ok({ status: 'ok' }));
