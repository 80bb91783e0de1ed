import type { JsonObject } from '#shared/json.ts';

/** Documents by which SCIM describes what is served (RFC 7643, 5 to 7). */

const CORE = 'urn:ietf:params:scim:schemas:core:2.0';

export const SERVICE_PROVIDER: JsonObject = {
  schemas: [`${CORE}:ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: 200 },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Personal access token',
      description: 'A personal access token with the scope scim:<provider>, as bearer',
      primary: true,
    },
  ],
};

export const RESOURCE_TYPES = (base: string): readonly JsonObject[] =>
  (['User', 'Group'] as const).map((name) => ({
    schemas: [`${CORE}:ResourceType`],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema: `${CORE}:${name}`,
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  }));

type Attribute = readonly [name: string, type: string, more?: JsonObject];

const attribute = ([name, type, more = {}]: Attribute): JsonObject => ({
  name,
  type,
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...more,
});

const USER: readonly Attribute[] = [
  ['userName', 'string', { required: true, uniqueness: 'server' }],
  ['externalId', 'string', { caseExact: true, uniqueness: 'server' }],
  ['displayName', 'string'],
  ['active', 'boolean'],
  [
    'name',
    'complex',
    { subAttributes: ['formatted', 'givenName', 'familyName'].map((name) => attribute([name, 'string'])) },
  ],
  [
    'emails',
    'complex',
    {
      multiValued: true,
      subAttributes: [attribute(['value', 'string']), attribute(['type', 'string']), attribute(['primary', 'boolean'])],
    },
  ],
];
const GROUP: readonly Attribute[] = [
  ['displayName', 'string', { required: true, caseExact: true, uniqueness: 'server' }],
  ['externalId', 'string', { caseExact: true }],
  [
    'members',
    'complex',
    {
      multiValued: true,
      subAttributes: [attribute(['value', 'string', { mutability: 'immutable' }]), attribute(['display', 'string'])],
    },
  ],
];

export const SCHEMAS = (base: string): readonly JsonObject[] =>
  (
    [
      ['User', USER],
      ['Group', GROUP],
    ] as const
  ).map(([name, attributes]) => ({
    schemas: [`${CORE}:Schema`],
    id: `${CORE}:${name}`,
    name,
    attributes: attributes.map(attribute),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${CORE}:${name}` },
  }));
