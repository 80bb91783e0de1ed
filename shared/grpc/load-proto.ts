import { fileURLToPath } from 'node:url';
import { loadPackageDefinition, type ServiceClientConstructor, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** 64-bit integers become decimal strings, absent messages null; field names stay as in the file. */
const OPTIONS = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true } as const;

/**
 * Loads a service of `proto/<file>` by its full name: the definition for a server, the constructor for a client.
 * @throws Error when the file has no such service.
 */
export function loadService(
  file: string,
  fullName: string,
): { definition: ServiceDefinition; Client: ServiceClientConstructor } {
  const path = fileURLToPath(new URL(`../../proto/${file}`, import.meta.url));
  const root: unknown = loadPackageDefinition(loadSync(path, OPTIONS));
  const found = fullName
    .split('.')
    .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], root);
  if (typeof found !== 'function') throw new Error(`no service ${fullName} in ${file}`);
  const Client = found as ServiceClientConstructor;
  return { definition: Client.service, Client };
}
