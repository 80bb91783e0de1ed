import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { tableFromIPC, type Table } from 'apache-arrow';
import type { FlightInfo } from '#proto/generated/arrow/flight/protocol/FlightInfo.ts';
import type { FlightServiceClient } from '#proto/generated/arrow/flight/protocol/FlightService.ts';
import {
  decodeMessage,
  encodeMessage,
  packMessage,
  type SqlMessages,
} from '#coordinator/api/flight-sql/flight-messages.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { must } from '#shared/must.ts';

export type FlightFailure = {
  readonly code: number;
  readonly message: string;
  /** Members of the ErrorInfo of `grpc-status-details-bin`. */
  readonly reason: string;
  readonly info: Readonly<Record<string, string>>;
};

/** A client of Flight SQL that sends what a test wants, also what no driver would send. */
export class FlightClient implements Disposable {
  readonly client: FlightServiceClient;
  readonly metadata = new Metadata();

  /** @param ca PEM of the authority of a door with TLS */
  constructor(url: string, authorization: string | undefined, ca?: Buffer) {
    const { Client } = loadService('flight.proto', 'arrow.flight.protocol.FlightService');
    const trust = url.startsWith('grpc+tls:') ? credentials.createSsl(ca) : credentials.createInsecure();
    this.client = new Client(new URL(url).host, trust);
    if (authorization !== undefined) this.metadata.set('authorization', authorization);
  }

  info<Name extends keyof SqlMessages>(command: Name, fields: SqlMessages[Name][0]): Promise<FlightInfo> {
    return this.infoOf(packMessage(command, fields));
  }

  /** GetFlightInfo of any bytes. */
  infoOf(cmd: Buffer): Promise<FlightInfo> {
    return new Promise((resolve, reject) => {
      this.client.GetFlightInfo({ type: 'CMD', cmd }, this.metadata, (error, info) => {
        if (error === null) resolve(must(info, 'an answer'));
        else reject(error);
      });
    });
  }

  /** The rows of a ticket. */
  async get(ticket: Buffer): Promise<Table> {
    const parts: Buffer[] = [];
    for await (const message of this.client.DoGet({ ticket }, this.metadata)) {
      const { data_header: header, data_body: body } = message as { data_header: Buffer; data_body: Buffer };
      const prefix = Buffer.alloc(8, 0xff);
      const padded = Buffer.alloc(Math.ceil(header.length / 8) * 8);
      header.copy(padded);
      prefix.writeUInt32LE(padded.length, 4);
      parts.push(prefix, padded, body);
    }
    return tableFromIPC(Buffer.concat(parts));
  }

  /** The rows of a query. */
  async query(sql: string): Promise<Table> {
    return this.get(ticketOf(await this.info('CommandStatementQuery', { query: sql })));
  }

  [Symbol.dispose](): void {
    this.client.close();
  }
}

/** The ticket of the only endpoint. */
export const ticketOf = ({ endpoint }: FlightInfo): Buffer => must(endpoint[0]?.ticket, 'an endpoint').ticket;

/** The error of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<FlightFailure> {
  const error = (await call.then(
    () => must(undefined, 'the call fails'),
    (thrown: unknown) => thrown,
  )) as ServiceError;
  const [details] = error.metadata.get('grpc-status-details-bin');
  const [detail] = details instanceof Buffer ? decodeMessage('RpcStatus', details).details : [];
  const info = decodeMessage('ErrorInfo', detail?.value ?? encodeMessage('ErrorInfo', {}));
  return { code: error.code, message: error.details, reason: info.reason, info: info.metadata };
}
