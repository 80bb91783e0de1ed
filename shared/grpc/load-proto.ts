import { fileURLToPath } from 'node:url';
import { loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { ProtoGrpcType as CatalogProto } from '#proto/generated/catalog.ts';
import type { ProtoGrpcType as FlightProto } from '#proto/generated/flight.ts';
import type { ProtoGrpcType as WorkerProto } from '#proto/generated/worker.ts';
import { LOADER_OPTIONS } from './loader-options.ts';

/** The generated types of the services, by their full names. */
type Services = {
  'arrow.flight.protocol.FlightService': FlightProto['arrow']['flight']['protocol']['FlightService'];
  'skein.catalog.v1.CatalogInternal': CatalogProto['skein']['catalog']['v1']['CatalogInternal'];
  'skein.worker.v1.Worker': WorkerProto['skein']['worker']['v1']['Worker'];
};

/**
 * Loads a service of `proto/<file>` by its full name: the definition for a server, the constructor for a client.
 * @throws Error when the file has no such service.
 */
export function loadService<Name extends keyof Services>(
  file: string,
  fullName: Name,
): { definition: Services[Name]['service']; Client: Services[Name] } {
  const path = fileURLToPath(new URL(`../../proto/${file}`, import.meta.url));
  const root: unknown = loadPackageDefinition(loadSync(path, LOADER_OPTIONS));
  const found = fullName
    .split('.')
    .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], root);
  if (typeof found !== 'function') throw new Error(`no service ${fullName} in ${file}`);
  const Client = found as Services[Name];
  return { definition: Client.service, Client };
}
