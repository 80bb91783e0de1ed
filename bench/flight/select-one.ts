import { decodeMessage, packMessage } from '#coordinator/api/flight-sql/flight-messages.ts';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { FlightClient, ticketOf, unpacked } from '#test/support/flight-client.ts';
import { KeepAliveClient } from '../http/keep-alive-client.ts';
import { loadInTurns, type LoadFigures, type Load } from '../latency/load.ts';
import { flightUrl } from './timed-rows.ts';

/** Time of each client before it is measured: V8's compiled code is then about as fast as it gets. */
const WARM_UP_SECONDS = 15;

type Case = { readonly name: string } & LoadFigures;
export type SelectOne = { readonly flight: Case; readonly http: Case };

/** `SELECT 1`, prepared once, by info and fetch, and over HTTP keep-alive, in turns. Neither client decodes the row that it reads. */
export async function selectOne(cluster: Cluster, seconds: number): Promise<SelectOne> {
  const token = await cluster.token();
  const http = new KeepAliveClient(cluster.queryUrl, token);
  using flight = new FlightClient(flightUrl(cluster), `Bearer ${token}`);
  try {
    const body = JSON.stringify({ sql: 'SELECT 1' });
    const loads: readonly (Load & { readonly name: string })[] = [
      { name: 'SELECT 1, Flight SQL, prepared', clients: 1, request: await prepared(flight) },
      { name: 'SELECT 1, HTTP', clients: 1, request: async () => void (await http.post(body)) },
    ];
    await loadInTurns(loads, WARM_UP_SECONDS);
    const [first, second] = await loadInTurns(loads, seconds);
    process.stderr.write('\n');
    return { flight: must(first, 'a case'), http: must(second, 'a case') };
  } finally {
    http.close();
  }
}

async function prepared(flight: FlightClient): Promise<() => Promise<void>> {
  const request = packMessage('ActionCreatePreparedStatementRequest', { query: 'SELECT 1' });
  const created = unpacked(await flight.action('CreatePreparedStatement', request));
  const { prepared_statement_handle: handle } = decodeMessage('ActionCreatePreparedStatementResult', created);
  return async () => {
    const ticket = ticketOf(await flight.info('CommandPreparedStatementQuery', { prepared_statement_handle: handle }));
    let messages = 0;
    for await (const _ of flight.client.DoGet({ ticket }, flight.metadata)) messages += 1;
    if (messages < 2) throw new Error('a schema and a batch of one row were expected');
  };
}
