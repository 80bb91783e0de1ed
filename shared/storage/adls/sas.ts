import { createHmac } from 'node:crypto';
import { escapeUri } from '#shared/storage/object/send-request.ts';
import { SERVICE_VERSION } from './adls-client.ts';

/** Shared access signatures, by the key of an account or by a user delegation key. */

/** The key of an account, in base64, opens all of it. */
export type AccountKey = { readonly kind: 'account'; readonly key: string };

/** A key that an account gives to an identity for at most seven days. */
export type DelegationKey = {
  readonly kind: 'delegation';
  readonly objectId: string;
  readonly tenantId: string;
  /** Times as the store has spelled them. */
  readonly starts: string;
  readonly expires: string;
  readonly service: string;
  readonly version: string;
  /** In base64. */
  readonly value: string;
};

export type SasScope = {
  readonly account: string;
  readonly container: string;
  /** The whole container, a directory with what lies below it, or one object. */
  readonly resource: 'container' | 'directory' | 'object';
  /** Path of the directory or the object; '' for the container. */
  readonly path: string;
  /** In the order of Azure's documentation: `racwdl`. */
  readonly permissions: string;
  readonly startsAtMs: number;
  readonly expiresAtMs: number;
  /** Plain HTTP may be used, as emulators have it. */
  readonly isPlain: boolean;
  /** Headers that an answer has, whatever the object has. */
  readonly answerHeaders?: { readonly contentDisposition: string; readonly contentType: string };
};

const RESOURCES = { container: 'c', directory: 'd', object: 'b' } as const;

/** The query by which whoever has it may do what its scope says. The order of the signed fields is that of version 2020-12-06 and later. */
export function makeSas(key: AccountKey | DelegationKey, scope: SasScope): string {
  const { account, container, path, permissions, resource, answerHeaders } = scope;
  const [starts, expires] = [timeOf(scope.startsAtMs), timeOf(scope.expiresAtMs)];
  const place = `/blob/${account}/${container}${path === '' ? '' : `/${path}`}`;
  const protocol = scope.isPlain ? 'https,http' : 'https';
  const { contentDisposition = '', contentType = '' } = answerHeaders ?? {};
  const signed = [
    permissions,
    starts,
    expires,
    place,
    ...(key.kind === 'account'
      ? // The identifier of a stored policy.
        ['']
      : [key.objectId, key.tenantId, key.starts, key.expires, key.service, key.version, '', '', '']),
    // Addresses.
    '',
    protocol,
    SERVICE_VERSION,
    RESOURCES[resource],
    // Snapshot, encryption scope, cache-control.
    '',
    '',
    '',
    contentDisposition,
    // Encoding, language.
    '',
    '',
    contentType,
  ];
  const secret = Buffer.from(key.kind === 'account' ? key.key : key.value, 'base64');
  const signature = createHmac('sha256', secret).update(signed.join('\n')).digest('base64');
  const parameters: Readonly<Record<string, string>> = {
    sv: SERVICE_VERSION,
    spr: protocol,
    st: starts,
    se: expires,
    ...(key.kind === 'account'
      ? {}
      : {
          skoid: key.objectId,
          sktid: key.tenantId,
          skt: key.starts,
          ske: key.expires,
          sks: key.service,
          skv: key.version,
        }),
    sr: RESOURCES[resource],
    sp: permissions,
    ...(resource === 'directory' ? { sdd: String(path.split('/').length) } : {}),
    ...(contentDisposition === '' ? {} : { rscd: contentDisposition }),
    ...(contentType === '' ? {} : { rsct: contentType }),
    sig: signature,
  };
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${escapeUri(value)}`)
    .join('&');
}

/** Whole seconds: `2026-11-28T17:00:00Z`. */
export const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
