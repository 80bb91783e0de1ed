import { hash } from 'node:crypto';

/** MD5 of some bytes in base64, as stores compare it. */
export const md5Of = (bytes: Uint8Array): string => hash('md5', bytes, 'base64');
