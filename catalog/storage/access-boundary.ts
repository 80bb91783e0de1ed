import { SkeinError } from '#shared/error.ts';
import { gcsPlace } from '#shared/storage/gcs/gcs-object.ts';
import type { Permission } from './session-policy.ts';

/** Most rules of a boundary, as Google's token service takes them. */
const RULES_MAX = 10;
/** Longest condition of a rule. */
const CONDITION_LENGTH_MAX = 2_048;

type Rule = {
  readonly availableResource: string;
  readonly availablePermissions: readonly string[];
  readonly availabilityCondition: { readonly expression: string };
};

/** The boundary of a token, as a request of the exchange has it. */
export type AccessBoundary = { readonly accessBoundary: { readonly accessBoundaryRules: readonly Rule[] } };

/**
 * The boundary within which a token reaches only what lies below some folders of one bucket.
 * @throws NOT_SUPPORTED for folders of several buckets, or of too many
 */
export function accessBoundary(folders: readonly string[], permission: Permission): AccessBoundary {
  const places = folders.map(gcsPlace);
  const [first] = places;
  if (first === undefined || places.some(({ bucket }) => bucket !== first.bucket)) {
    throw new SkeinError('NOT_SUPPORTED', 'the folders of a table lie in several buckets');
  }
  // Without a condition the token would open the whole bucket; no table lies at its root.
  if (places.some(({ key }) => key === '')) {
    throw new SkeinError('NOT_SUPPORTED', 'a table whose folder is the whole bucket gets no token');
  }
  if (places.length > RULES_MAX) throw tooMany(places.length);
  const roles = permission === 'read' ? ['objectViewer'] : ['objectViewer', 'objectUser'];
  const rules = places.map(({ bucket, key }) => ({
    availableResource: `//storage.googleapis.com/projects/_/buckets/${bucket}`,
    availablePermissions: roles.map((role) => `inRole:roles/storage.${role}`),
    availabilityCondition: { expression: conditionOf(bucket, `${key}/`) },
  }));
  if (rules.some(({ availabilityCondition }) => availabilityCondition.expression.length > CONDITION_LENGTH_MAX)) {
    throw tooMany(places.length);
  }
  return { accessBoundary: { accessBoundaryRules: rules } };
}

/** True for the objects and folders below a prefix, and for lists of it. The slash at its end keeps `orders2/` out of `orders/`. */
function conditionOf(bucket: string, prefix: string): string {
  const of = (kind: string): string =>
    `resource.name.startsWith(${celText(`projects/_/buckets/${bucket}/${kind}/${prefix}`)})`;
  const listed = `api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith(${celText(prefix)})`;
  return `${of('objects')} || ${of('folders')} || ${listed}`;
}

/** A text of the Common Expression Language. */
const celText = (text: string): string =>
  // eslint-disable-next-line no-control-regex -- a name may hold control characters, and a literal may not
  `'${text.replaceAll(/[\\']/g, (char) => `\\${char}`).replaceAll(/[\u0000-\u001f\u007f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`;

const tooMany = (count: number): SkeinError =>
  new SkeinError('NOT_SUPPORTED', `a table with ${count} folders, or long ones: no token reaches so many`);
