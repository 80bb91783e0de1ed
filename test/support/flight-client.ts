import { once } from 'node:events';
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { tableFromIPC, type Table } from 'apache-arrow';
import type { FlightInfo } from '#proto/generated/arrow/flight/protocol/FlightInfo.ts';
import type { PollInfo } from '#proto/generated/arrow/flight/protocol/PollInfo.ts';
import type { FlightServiceClient } from '#proto/generated/arrow/flight/protocol/FlightService.ts';
import type { PutResult } from '#proto/generated/arrow/flight/protocol/PutResult.ts';
import {
  decodeMessage,
  encodeMessage,
  packMessage,
  unpackMessage,
  type SqlMessages,
} from '#coordinator/api/flight-sql/flight-messages.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { must } from '#shared/must.ts';
import { rowsMessages, type RowsMessage } from './flight-rows.ts';

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

  poll(cmd: Buffer): Promise<PollInfo> {
    return new Promise((resolve, reject) => {
      this.client.PollFlightInfo({ type: 'CMD', cmd }, this.metadata, (error, info) => {
        if (error === null) resolve(must(info, 'an answer'));
        else reject(error);
      });
    });
  }

  /** The bodies that an action answers with. */
  async action(type: string, body: Buffer = Buffer.alloc(0)): Promise<readonly Buffer[]> {
    const bodies: Buffer[] = [];
    for await (const result of this.client.DoAction({ type, body }, this.metadata)) {
      bodies.push((result as { readonly body: Buffer }).body);
    }
    return bodies;
  }

  /** The rows of a metadata command. */
  async metadataRows<Name extends keyof SqlMessages>(command: Name, fields: SqlMessages[Name][0]): Promise<Table> {
    return this.get(ticketOf(await this.info(command, fields)));
  }

  /** DoPut of a command with rows; answers what the reply carries. */
  put(cmd: Buffer, rows: Table): Promise<Buffer> {
    return this.putMessages(cmd, rowsMessages(rows));
  }

  /** DoPut of messages, as fast as the server takes them. */
  putMessages(cmd: Buffer, messages: readonly RowsMessage[]): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const call = this.client.DoPut(this.metadata);
      call.on('data', ({ app_metadata: answer }: PutResult) => resolve(answer));
      call.on('error', reject);
      call.on('end', () => reject(new Error('no reply came')));
      const send = async (): Promise<void> => {
        for (const [i, message] of messages.entries()) {
          const isFull = !call.write({ ...message, ...(i === 0 ? { flight_descriptor: { type: 'CMD', cmd } } : {}) });
          if (isFull) await once(call, 'drain');
        }
        call.end();
      };
      send().catch(reject);
    });
  }

  /** Runs a statement that gives no rows. */
  async run(sql: string, transaction?: Buffer): Promise<void> {
    const inside = transaction === undefined ? {} : { transaction_id: transaction };
    await this.info('CommandStatementQuery', { query: sql, ...inside });
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
  async query(sql: string, transaction?: Buffer): Promise<Table> {
    const inside = transaction === undefined ? {} : { transaction_id: transaction };
    return this.get(ticketOf(await this.info('CommandStatementQuery', { query: sql, ...inside })));
  }

  [Symbol.dispose](): void {
    this.client.close();
  }
}

/** The body of an action's only result, which is in an `Any`. */
export const unpacked = (bodies: readonly Buffer[]): Uint8Array =>
  unpackMessage(must(bodies[0], 'the action has a result')).value;

/** The rows of a table as plain values, with text for whole numbers of 64 bits. */
export const valuesOf = (table: Table): unknown[][] =>
  table
    .toArray()
    .map((row) =>
      Object.values((row as { toJSON(): object }).toJSON()).map((value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    );

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
