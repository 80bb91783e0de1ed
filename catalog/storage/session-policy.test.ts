import { expect, test } from 'vitest';
import { sessionPolicy } from './session-policy.ts';

type Statement = {
  readonly Action: readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: object;
};
const statements = (policy: string): readonly Statement[] =>
  (JSON.parse(policy) as { readonly Statement: readonly Statement[] }).Statement;

test('a policy names the folders with their slash, once for the objects and once for the list', () => {
  expect(statements(sessionPolicy(['s3://bkt/wh/orders', 's3://bkt/data'], 'write', 'eu-central-1'))).toMatchObject([
    {
      Action: [
        's3:GetObject',
        's3:PutObject',
        's3:DeleteObject',
        's3:AbortMultipartUpload',
        's3:ListMultipartUploadParts',
      ],
      Resource: ['arn:aws:s3:::bkt/wh/orders/*', 'arn:aws:s3:::bkt/data/*'],
    },
    {
      Action: ['s3:ListBucket'],
      Resource: 'arn:aws:s3:::bkt',
      Condition: { StringLike: { 's3:prefix': ['wh/orders/*', 'data/*'] } },
    },
    { Action: ['s3:GetBucketLocation'], Resource: 'arn:aws:s3:::bkt' },
  ]);
});

test('a policy to read writes nothing', () => {
  expect(statements(sessionPolicy(['s3://bkt/t'], 'read', 'us-east-1'))[0]?.Action).toEqual(['s3:GetObject']);
});

test.each([
  ['cn-north-1', 'aws-cn'],
  ['us-gov-west-1', 'aws-us-gov'],
  ['us-east-1', 'aws'],
])('in %s the partition is %s', (region, partition) => {
  expect(sessionPolicy(['s3://bkt/t'], 'read', region)).toContain(`"arn:${partition}:s3:::bkt/t/*"`);
});

test('the partition is the role’s where there is one', () => {
  const role = 'arn:aws-cn:iam::123456789012:role/skein';
  expect(sessionPolicy(['s3://bkt/t'], 'read', 'us-east-1', role)).toContain('"arn:aws-cn:s3:::bkt/t/*"');
  expect(sessionPolicy(['s3://bkt/t'], 'read', 'us-east-1', 'arn:minio:iam:::role/x')).toContain(
    '"arn:aws:s3:::bkt/t/*"',
  );
});

test('characters that stand for others in a policy are escaped', () => {
  expect(statements(sessionPolicy(['s3://bkt/a*b?c${aws:username}'], 'read', 'us-east-1'))[0]?.Resource).toEqual([
    'arn:aws:s3:::bkt/a${*}b${?}c${$}{aws:username}/*',
  ]);
});

test('folders of two buckets, and more than 2,048 characters, are refused', () => {
  expect(() => sessionPolicy(['s3://bkt/t', 's3://other/t'], 'read', 'us-east-1')).toThrow('several buckets');
  const many = Array.from({ length: 30 }, (_, i) => `s3://bkt/a-folder-with-a-long-name/${i}`);
  expect(() => sessionPolicy(many, 'read', 'us-east-1')).toThrow('30 folders');
});
