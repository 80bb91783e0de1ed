import { randomBytes } from 'node:crypto';
import { argon2id, hash } from 'argon2';

/** Service specification, Authentication 5: Argon2id with t=3, m=64 MiB, p=1. */
const ARGON2_OPTIONS = { type: argon2id, timeCost: 3, memoryCost: 64 * 1024, parallelism: 1 } as const;

/** The PHC string to store; about 0.2 s in a thread of libuv's pool. */
export const hashPassword = (password: string): Promise<string> => hash(password, ARGON2_OPTIONS);

/** 120 random bits. */
export const generatePassword = (): string => randomBytes(15).toString('base64url');
