import type { Cluster } from './cluster.ts';

/** Output of `skein admin client create` and `rotate`. */
export type AdminClient = {
  readonly tenant: string;
  readonly client: string;
  readonly client_id: string;
  readonly client_secret: string;
};

/** Service accounts of a cluster, made by the operator's command. */
export class AdminClients {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** `skein admin client <args>`, which must succeed. */
  async admin(...args: readonly string[]): Promise<AdminClient> {
    return JSON.parse(await this.#cluster.cliOk(['admin', 'client', ...args])) as AdminClient;
  }

  /** The access token of a client that signs in with its secret. */
  async tokenOf({ client_id, client_secret }: AdminClient): Promise<string> {
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
    const response = await fetch(`${this.#cluster.catalogUrl}/v1/oauth/tokens`, { method: 'POST', body });
    return ((await response.json()) as { access_token: string }).access_token;
  }

  /** How catalog and coordinator answer a token: two HTTP statuses. */
  async statuses(token: string): Promise<readonly number[]> {
    const headers = { authorization: `Bearer ${token}` };
    return [
      (await fetch(`${this.#cluster.catalogUrl}/v1/lake/namespaces`, { headers })).status,
      (await this.#cluster.query('SHOW CATALOGS', { token })).status,
    ];
  }
}
