import type { RequestListener, Server, ServerOptions } from 'node:http';
import { createServer } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import type { DoorMaterial, DoorTls } from './door-tls.ts';

type HttpsOptions = {
  readonly http?: ServerOptions | null | undefined;
  readonly keepAliveTimeout?: number | undefined;
  readonly requestTimeout?: number | undefined;
  readonly connectionTimeout?: number | undefined;
};

/** A server over TLS, whose certificate changes with its files. Routes and hooks see no difference. */
export function httpsServer(
  tls: DoorTls,
  listener: RequestListener,
  { http, keepAliveTimeout, requestTimeout, connectionTimeout }: HttpsOptions,
): Server {
  const contextOf = ({ cert, key, clientCa }: DoorMaterial): SecureContextOptions => ({
    cert,
    key,
    ...(clientCa === undefined ? {} : { ca: clientCa }),
  });
  const needsClient = tls.material.clientCa !== undefined;
  const server = createServer(
    { ...http, ...contextOf(tls.material), requestCert: needsClient, rejectUnauthorized: needsClient },
    listener,
  );
  if (keepAliveTimeout !== undefined) server.keepAliveTimeout = keepAliveTimeout;
  if (requestTimeout !== undefined) server.requestTimeout = requestTimeout;
  if (connectionTimeout !== undefined) server.setTimeout(connectionTimeout);
  tls.onChange((material) => server.setSecureContext(contextOf(material)));
  return server;
}
