import { FORMAT_VERSION_MAX } from '../metadata/table-document.ts';

/**
 * The capabilities of a deployment, by the endpoints that make it so: a client need not know which endpoint belongs to what. Names are never given
 * another meaning; one that is missing is not served.
 */
const NEEDS = {
  namespaces: ['POST /v1/{prefix}/namespaces', 'POST /v1/{prefix}/namespaces/{namespace}/properties'],
  tables: [
    'POST /v1/{prefix}/namespaces/{namespace}/tables',
    'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  ],
  'register-table': ['POST /v1/{prefix}/namespaces/{namespace}/register'],
  'undrop-table': ['POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/undrop', 'GET /v1/{prefix}/dropped-tables'],
  views: ['POST /v1/{prefix}/namespaces/{namespace}/views', 'POST /v1/{prefix}/namespaces/{namespace}/views/{view}'],
  'register-view': ['POST /v1/{prefix}/namespaces/{namespace}/register-view'],
  functions: ['POST /v1/{prefix}/namespaces/{namespace}/functions'],
  stages: ['POST /v1/{prefix}/namespaces/{namespace}/stages'],
  'scan-planning': [
    'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan',
    'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/tasks',
  ],
  'metrics-reports': ['POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics'],
  'multi-table-commit': ['POST /v1/{prefix}/transactions/commit'],
  'multi-catalog-commit': ['POST /v1/transactions/commit'],
  'catalog-management': ['POST /v1/catalogs', 'DELETE /v1/catalogs/{catalog}'],
  'vended-credentials': ['GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials'],
  'remote-signing': ['POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/sign'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Capabilities that no endpoint shows: every operation that changes something takes a key, and tables are of these formats. */
const ALWAYS = ['idempotency-keys', ...Array.from({ length: FORMAT_VERSION_MAX }, (_, i) => `format-version-${i + 1}`)];

/** The capabilities of a deployment that serves these endpoints, as `GET /v1/config` names them. */
export const capabilitiesOf = (endpoints: readonly string[]): readonly string[] => [
  ...Object.entries(NEEDS).flatMap(([name, needed]) => (needed.every((one) => endpoints.includes(one)) ? [name] : [])),
  ...ALWAYS,
];
