import { must } from '#shared/must.ts';
import type { Cluster } from './cluster.ts';

/** The name of the table that has the rows of a materialized view. */
export async function storageOf(cluster: Pick<Cluster, 'catalog'>, schema: string, view: string): Promise<string> {
  const { body } = await cluster.catalog('GET', `/v1/lake/namespaces/${schema}/views/${view}`);
  const { metadata } = body as {
    metadata: {
      'current-version-id': number;
      versions: readonly { 'version-id': number; 'storage-table'?: { name: string } }[];
    };
  };
  const version = metadata.versions.find((one) => one['version-id'] === metadata['current-version-id']);
  return must(version?.['storage-table'], 'a materialized view has a table').name;
}
