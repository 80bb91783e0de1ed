import type { Answer } from '../../rest-operation.ts';
import { ok } from '../../rest-operation.ts';

/** `GET /health`: the process answers. */
export const getHealth = (): Promise<Answer> => Promise.resolve(ok({ status: 'ok' }));
