import { SkeinError } from '#shared/error.ts';
import { normalizeLocation } from '#shared/storage/location.ts';

/** A key may read below its folders, or also write there. */
export type Permission = 'read' | 'write';
/** The catalog's own key also finds uploads that others have left. */
export type KeyPermission = Permission | 'own';

/** Longest policy that AssumeRole takes. */
const POLICY_LENGTH_MAX = 2_048;

const READ = ['s3:GetObject'];
const WRITE = [...READ, 's3:PutObject', 's3:DeleteObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts'];

/**
 * The policy of a session that reaches only what lies below some folders of one bucket. Each name stands once for its objects and once for
 * its list, because the packed size is limited, too.
 * @throws NOT_SUPPORTED for folders of several buckets, or of too many
 */
export function sessionPolicy(
  folders: readonly string[],
  permission: KeyPermission,
  region: string,
  roleArn: string | null = null,
): string {
  const places = folders.map((folder) => {
    const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/?(.*)$/s.exec(normalizeLocation(folder)) ?? [];
    return { bucket, below: key === '' ? '*' : `${escapePattern(key)}/*` };
  });
  const [first] = places;
  if (first === undefined || places.some(({ bucket }) => bucket !== first.bucket)) {
    throw new SkeinError('NOT_SUPPORTED', 'the folders of a table lie in several buckets');
  }
  const bucket = `arn:${partitionOf(region, roleArn)}:s3:::${first.bucket}`;
  const statement = (action: readonly string[], resource: string | readonly string[], condition?: object): object => ({
    Effect: 'Allow',
    Action: action,
    Resource: resource,
    ...(condition === undefined ? {} : { Condition: condition }),
  });
  const below = places.map((place) => place.below);
  const policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      statement(
        permission === 'read' ? READ : WRITE,
        below.map((one) => `${bucket}/${one}`),
      ),
      statement(['s3:ListBucket'], bucket, { StringLike: { 's3:prefix': below } }),
      statement(['s3:GetBucketLocation', ...(permission === 'own' ? ['s3:ListBucketMultipartUploads'] : [])], bucket),
    ],
  });
  if (policy.length <= POLICY_LENGTH_MAX) return policy;
  throw new SkeinError('NOT_SUPPORTED', `a table with ${folders.length} folders: no temporary key reaches so many`);
}

/** `*` and `?` stand for other texts in a policy, and `$` begins a variable. */
const escapePattern = (key: string): string => key.replaceAll(/[*?$]/g, (char) => `\${${char}}`);

/** The partition of the role, which a policy may not leave; without a role of AWS that of the region. */
const partitionOf = (region: string, roleArn: string | null): string =>
  /^arn:(aws[a-z-]*):/.exec(roleArn ?? '')?.[1] ??
  (region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws');
