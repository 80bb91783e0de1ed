import { parseJson, printJson, type Json, type JsonObject } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';

/** Requests that a fixture's maker and its test send alike. */

export type CatalogAnswer = { readonly status: number; readonly body: JsonObject };

/** A request to the catalog under a token; a form is sent as one, all else as JSON. */
export async function askCatalog(
  cluster: Cluster,
  token: string | null,
  method: string,
  path: string,
  body?: Json | URLSearchParams,
): Promise<CatalogAnswer> {
  const response = await fetch(`${cluster.catalogUrl}${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined || body instanceof URLSearchParams ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: body instanceof URLSearchParams ? body : printJson(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : parseJson(text)) as JsonObject };
}

/** Columns, types and rows of a statement, or its error. */
export async function answerOf(cluster: Cluster, token: string, sql: string): Promise<Json> {
  const { body } = await cluster.query(sql, { token });
  const { columns, types, rows, error, sql_state } = body;
  return (error === undefined ? { columns, types, rows } : { error, sql_state }) as Json;
}

export type Granted = { readonly access_token: string; readonly refresh_token: string; readonly expires_in: number };

/** A grant of the token endpoint, by the client's id and secret. @throws Error when it is refused */
export async function grant(cluster: Cluster, form: Readonly<Record<string, string>>): Promise<Granted> {
  const answer = await askCatalog(cluster, null, 'POST', '/v1/oauth/tokens', new URLSearchParams(form));
  if (answer.status !== 200) throw new Error(`${form['grant_type']}: HTTP ${answer.status} ${printJson(answer.body)}`);
  return answer.body as unknown as Granted;
}
