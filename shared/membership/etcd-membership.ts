import { experimental } from '@grpc/grpc-js';
import { circuitBreaker, ConsecutiveBreaker, ExponentialBackoff, handleWhen } from 'cockatiel';
import { Etcd3, isRecoverableError, type Watcher } from 'etcd3';
import { ETCD_KEEPALIVE } from '#shared/grpc/keepalive.ts';
import type { TlsFiles } from '#shared/grpc/tls-files.ts';
import type { Logger } from '#shared/log/logger.ts';
import { parseMember, type Member, type Membership } from './member.ts';

export type EtcdOptions = {
  readonly endpoints: readonly string[];
  readonly prefix: string;
  readonly leaseTtlMs: number;
  readonly log: Logger;
  /** Certificates for endpoints with `https://`; etcd requires a client certificate too. The caller that opened them closes them. */
  readonly tls?: TlsFiles | undefined;
};

/** Interval at which the prefix is listed again: after an outage a watch came back later than the leases (measured: over 8 s). */
const LIST_INTERVAL_MS = 5_000;
/** Time that etcd has for an answer. */
const CALL_TIMEOUT_MS = 5_000;
/** Failures in a row after which an endpoint is left alone for `REST_MS`, which is also the longest pause before a watch begins again. */
const FAILURES_MAX = 3;
const REST_MS = 1_000;
/** Pause between attempts to register while etcd is away. */
const REGISTER_RETRY_MS = 1_000;

export function etcdClient({ endpoints, tls }: EtcdOptions): Etcd3 {
  const hosts = endpoints.map((endpoint) => (endpoint.includes('://') ? endpoint : `http://${endpoint}`));
  const client = new Etcd3({
    hosts,
    dialTimeout: CALL_TIMEOUT_MS,
    grpcOptions: ETCD_KEEPALIVE,
    // The defaults, 5 s and 30 s, would keep a standby from the lead for so long after its host was silent.
    faultHandling: {
      host: () =>
        circuitBreaker(handleWhen(isRecoverableError), {
          halfOpenAfter: REST_MS,
          breaker: new ConsecutiveBreaker(FAILURES_MAX),
        }),
      watchBackoff: new ExponentialBackoff({ maxDelay: REST_MS }).next(),
    },
    defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + CALL_TIMEOUT_MS }),
  });
  if (tls === undefined) return client;
  // etcd3 reads certificates only once. Its hosts get credentials that follow the files, before the first of them connects.
  const followed = experimental.createCertificateProviderChannelCredentials(tls, tls);
  const { pool } = client as unknown as {
    readonly pool: { readonly hosts: readonly { channelCredentials: unknown }[] };
  };
  for (const host of pool.hosts) host.channelCredentials = followed;
  return client;
}

const folder = (options: EtcdOptions, kind: Member['kind']): string => `${options.prefix}members/${kind}/`;

/** Keeps members as keys under leases. A watch reports changes at once; a periodic list makes up for events that the watch lost. */
export function etcdMembership(options: EtcdOptions): Membership {
  const client = etcdClient(options);
  const closers: (() => void)[] = [];
  let closed = false;

  const watch: Membership['watch'] = (kind, onChange) => {
    const malformed = new Set<string>();
    /** Skips a key that does not hold a member, and logs it once. */
    const readMember = ([key, text]: readonly [string, string]): readonly Member[] => {
      const member = parseMember(text, kind);
      if (member !== undefined) return [member];
      if (!malformed.has(key)) options.log.warn({ key }, 'a key of etcd that is no member is ignored');
      malformed.add(key);
      return [];
    };
    let last = '';
    let listing = false;
    const list = async (): Promise<void> => {
      if (listing || closed) return;
      listing = true;
      try {
        const entries = await client.getAll().prefix(folder(options, kind)).strings();
        for (const key of malformed) if (!Object.hasOwn(entries, key)) malformed.delete(key);
        const members = Object.entries(entries)
          .flatMap(readMember)
          .toSorted((a, b) => (a.id < b.id ? -1 : 1));
        const text = JSON.stringify(members);
        if (closed || text === last) return;
        last = text;
        onChange(members);
      } catch (error) {
        options.log.debug({ err: error }, 'etcd does not answer; the known members stay');
      } finally {
        listing = false;
      }
    };
    let watcher: Watcher | undefined;
    const again = (): void => void list();
    const startWatch = async (): Promise<void> => {
      try {
        watcher = await client.watch().prefix(folder(options, kind)).create();
        watcher.on('put', again).on('delete', again).on('connected', again);
        watcher.on('error', (error) => options.log.debug({ err: error }, 'etcd watch'));
      } catch (error) {
        options.log.warn({ err: error }, 'no etcd watch; listing by timer');
      }
    };
    void startWatch();
    const timer = setInterval(again, LIST_INTERVAL_MS);
    closers.push(() => {
      clearInterval(timer);
      void watcher?.cancel().catch(() => undefined);
    });
    again();
  };

  return {
    watch,
    close: () => {
      closed = true;
      for (const close of closers) close();
      client.close();
      return Promise.resolve();
    },
  };
}

/**
 * Keeps `member` registered until `close`, which revokes the lease (the others see it within milliseconds). A lost lease, such as after the
 * process was frozen, is replaced.
 */
export function etcdRegistration(options: EtcdOptions, member: Member): { close(): Promise<void> } {
  const client = etcdClient(options);
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let revoke: (() => Promise<unknown>) | undefined;

  const register = async (): Promise<void> => {
    if (closed) return;
    const lease = client.lease(Math.max(1, Math.ceil(options.leaseTtlMs / 1000)));
    let ended = false;
    const replace = (): void => {
      if (ended || closed) return;
      ended = true;
      lease.release();
      timer = setTimeout(() => void register(), REGISTER_RETRY_MS);
    };
    lease.on('lost', (error) => {
      options.log.warn({ err: error }, 'membership lease lost; registering again');
      replace();
    });
    try {
      await lease.put(`${folder(options, member.kind)}${member.id}`).value(JSON.stringify(member));
      revoke = () => lease.revoke();
      if (closed) await lease.revoke();
    } catch (error) {
      options.log.debug({ err: error }, 'etcd does not answer; registration is tried again');
      replace();
    }
  };
  void register();

  return {
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await revoke?.().catch(() => undefined);
      client.close();
    },
  };
}
