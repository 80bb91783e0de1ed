import { connect } from 'node:net';

/** Whether host:port accepts TCP connections; used for services that speak gRPC or the Postgres protocol. */
export function accepts(address: string, timeoutMs: number): Promise<boolean> {
  const at = address.lastIndexOf(':');
  return new Promise((resolve) => {
    const socket = connect({ host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) });
    const end = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(timeoutMs, () => end(false));
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}
