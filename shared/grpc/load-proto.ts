import { fileURLToPath } from 'node:url';
import { loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync, type MessageTypeDefinition } from '@grpc/proto-loader';
import type { ProtoGrpcType as CatalogProto } from '#proto/generated/catalog.ts';
import type { ProtoGrpcType as FlightProto } from '#proto/generated/flight.ts';
import type { ProtoGrpcType as MemberProto } from '#proto/generated/member.ts';
import type { ProtoGrpcType as WorkerProto } from '#proto/generated/worker.ts';
import { LOADER_OPTIONS } from '#proto/loader-options.ts';

/** The generated types of the services, by their full names. */
type Services = {
  'arrow.flight.protocol.FlightService': FlightProto['arrow']['flight']['protocol']['FlightService'];
  'skein.catalog.v1.CatalogInternal': CatalogProto['skein']['catalog']['v1']['CatalogInternal'];
  'skein.member.v1.Member': MemberProto['skein']['member']['v1']['Member'];
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
  const root: unknown = loadPackageDefinition(loadSync(pathOf(file), LOADER_OPTIONS));
  const found = fullName
    .split('.')
    .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], root);
  if (typeof found !== 'function') throw new Error(`no service ${fullName} in ${file}`);
  const Client = found as Services[Name];
  return { definition: Client.service, Client };
}

/** Encodes and decodes the messages of one type. @throws Error when bytes are no such message */
export type MessageCodec<Input, Output> = {
  readonly encode: (message: Input) => Buffer;
  readonly decode: (bytes: Uint8Array) => Output;
};

/** Loads the messages of `proto/<file>`, by their full names. */
export function loadMessages(file: string): (fullName: string) => MessageCodec<object, object> {
  const root = loadSync(pathOf(file), LOADER_OPTIONS);
  return (fullName) => {
    const found = root[fullName] as Partial<MessageTypeDefinition<object, object>> | undefined;
    const { serialize, deserialize } = found ?? {};
    if (serialize === undefined || deserialize === undefined) throw new Error(`no message ${fullName} in ${file}`);
    return {
      encode: serialize,
      decode: (bytes) => deserialize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
    };
  };
}

const pathOf = (file: string): string => fileURLToPath(new URL(`../../proto/${file}`, import.meta.url));
