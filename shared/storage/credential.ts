import { unreachable } from '#shared/must.ts';

/**
 * The right by which a process accesses a storage. It travels in scans and tickets. With `none`, the file system decides by the account of
 * the process.
 */
export type StorageCredential = { readonly kind: 'none' };

export const NO_CREDENTIAL: StorageCredential = { kind: 'none' };

/** A location below which its bearer may read, and the credential for it. */
export type StorageGrant = { readonly location: string; readonly credential: StorageCredential };

export function sameCredential(one: StorageCredential, other: StorageCredential): boolean {
  switch (one.kind) {
    case 'none':
      return other.kind === 'none';
    default:
      return unreachable(one.kind);
  }
}
