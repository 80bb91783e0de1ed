/**
 * Pings of gRPC's connections: one whose other end is silent, because packets vanish, is given up within 5 s, by its client and its server.
 * Without them the kernel sends again for a quarter of an hour, in longer and longer intervals also after the way is free again.
 */
export const KEEPALIVE = { 'grpc.keepalive_time_ms': 2_000, 'grpc.keepalive_timeout_ms': 3_000 } as const;

/** Pauses of a client between attempts to connect. */
const BACKOFF = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1_000 } as const;

/** Options of every client between processes of a cluster; it pings between calls, too, so that none begins on a stale connection. */
export const CLIENT_KEEPALIVE = { ...KEEPALIVE, 'grpc.keepalive_permit_without_calls': 1, ...BACKOFF } as const;

/**
 * Options of a client of etcd, which counts pings that come more often than each 5 s, unless it has sent something meanwhile, and refuses
 * pings between calls. All of Skein's clients of etcd have a call that goes on, and ask something every few seconds.
 */
export const ETCD_KEEPALIVE = { ...KEEPALIVE, 'grpc.keepalive_timeout_ms': 2_000, ...BACKOFF } as const;
