import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A wire before a port of this machine that can fall silent: bytes vanish, connections are taken, and none of them ends. */
export type SilentWire = Disposable & { readonly port: number; silence(isSilent: boolean): void };

export async function startSilentWire(target: { readonly host: string; readonly port: number }): Promise<SilentWire> {
  let isSilent = false;
  const sockets = new Set<Socket>();
  const wire = createServer((socket) => {
    const upstream = connect(target);
    for (const end of [socket, upstream]) {
      sockets.add(end);
      end.on('error', () => undefined);
    }
    socket.on('data', (data) => void (isSilent || upstream.write(data)));
    upstream.on('data', (data) => void (isSilent || socket.write(data)));
    socket.on('close', () => void (isSilent || upstream.destroy()));
    upstream.on('close', () => void (isSilent || socket.destroy()));
  }).listen(0, '127.0.0.1');
  await once(wire, 'listening');
  return {
    port: (wire.address() as AddressInfo).port,
    silence: (silent) => (isSilent = silent),
    [Symbol.dispose]: () => {
      wire.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
