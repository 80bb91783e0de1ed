import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type InstanceKey = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly lifeMs: number;
};

/** The metadata service of an instance of AWS (version 2), as far as its keys go. */
export type MetadataServer = AsyncDisposable & {
  /** Variables of a process that runs on the instance. */
  readonly environment: Readonly<Record<string, string>>;
  /** null = none from now on. */
  give(key: InstanceKey | null): void;
};

const ROLES = '/latest/meta-data/iam/security-credentials/';

export async function startMetadataServer(): Promise<MetadataServer> {
  let key: InstanceKey | null = null;
  const server = createServer((request, response) => {
    if (request.url === '/latest/api/token') return void response.end('token');
    if (key === null || request.headers['x-aws-ec2-metadata-token'] !== 'token') {
      response.statusCode = 404;
      return void response.end();
    }
    if (request.url === ROLES) return void response.end('role');
    const { accessKeyId, secretAccessKey, sessionToken, lifeMs } = key;
    return void response.end(
      JSON.stringify({
        Code: 'Success',
        AccessKeyId: accessKeyId,
        SecretAccessKey: secretAccessKey,
        Token: sessionToken,
        Expiration: new Date(Date.now() + lifeMs).toISOString(),
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    environment: {
      AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://127.0.0.1:${port}`,
      AWS_EC2_METADATA_DISABLED: 'false',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_REGION: 'us-east-1',
    },
    give: (next) => (key = next),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
