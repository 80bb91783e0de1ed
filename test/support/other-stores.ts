import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccessKeyInput } from '#proto/generated/skein/catalog/v1/AccessKey.ts';
import type { BucketSettingsInput } from '#proto/generated/skein/catalog/v1/BucketSettings.ts';
import { AdlsClient } from '#shared/storage/adls/adls-client.ts';
import { adlsPlace } from '#shared/storage/adls/adls-place.ts';
import { readKeyFile } from '#shared/storage/key-file.ts';
import type { AdlsCredential, StoreCredential } from '#shared/storage/credential.ts';
import { elements, readXml } from '#shared/storage/object/read-xml.ts';
import { AZURITE_ACCOUNT, AZURITE_KEY, startAzurite, type Azurite } from './azurite.ts';
import { GCS_BUILD_MS } from './fake-gcs.ts';
import { NPM_INSTALL_MS } from './npm-folder.ts';
import { startGoogle, type Google } from './google.ts';

/** A store that is not S3, as a cluster is told of it. */
export type OtherStore = AsyncDisposable & {
  /** The location of its bucket `warehouse`. */
  readonly root: string;
  /** The flags of `skein up` and `skein admin catalog create` behind `--storage`. */
  readonly flags: readonly string[];
  /** The same as a call of the catalog has it. */
  readonly bucket: BucketSettingsInput;
  /** Variables of the processes of a cluster. */
  readonly env: Readonly<Record<string, string>>;
  /** The store's own key, which may do everything. */
  readonly credential: StoreCredential;
  /** A text of the long-lived key, which only the catalog may hold. */
  readonly longLived: string;
  /** Texts that no log, error or history may hold; they grow while keys are given. */
  secrets(): readonly string[];
  /** Ends the store's process, or stops it where a killed one would forget objects; `start` brings it back. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Uploads that nobody has made an object or ended, as far as the store can list them: those of Azure, and resumable ones of Google, have parts. */
  openUploads(): Promise<number>;
  /** An upload of Skein's that is not to be an object is ended by Skein, which finds that of a writer that has died, too; or by its writer alone. */
  readonly endsUploads: 'skein' | 'writer';
};

export const OTHER_STORE_MS = Math.max(GCS_BUILD_MS, NPM_INSTALL_MS);

export const OTHER_STORES = {
  gcs: async (): Promise<OtherStore & { readonly google: Google }> => {
    await using started = new AsyncDisposableStack();
    const google = started.use(await startGoogle());
    const { token, endpoint } = google;
    const file = await keyFile(started, google.accountFile);
    const all = started.move();
    return {
      google,
      root: 'gs://warehouse',
      flags: ['--endpoint', endpoint, '--sts-endpoint', endpoint, '--credentials', file],
      bucket: { settings: { endpoint, 'sts-endpoint': endpoint }, key: keyInput(file) },
      env: {},
      credential: { kind: 'gcs', token, endpoint, expiresAtMs: null },
      longLived: google.keyText,
      secrets: () => google.secrets,
      kill: () => google.kill(),
      start: () => google.start(),
      openUploads: () => Promise.resolve(google.openUploads()),
      endsUploads: 'writer',
      [Symbol.asyncDispose]: () => all.disposeAsync(),
    };
  },
  adls: async (): Promise<OtherStore & { readonly azurite: Azurite }> => {
    await using started = new AsyncDisposableStack();
    const azurite = started.use(await startAzurite());
    const file = await keyFile(started, `account_key: ${AZURITE_KEY}\n`);
    const all = started.move();
    return {
      azurite,
      root: `abfss://warehouse@${AZURITE_ACCOUNT}.dfs.core.windows.net`,
      flags: ['--endpoint', azurite.endpoint, '--allow-container-sas', '--credentials', file],
      bucket: { settings: { endpoint: azurite.endpoint, 'allow-container-sas': 'true' }, key: keyInput(file) },
      env: { NODE_EXTRA_CA_CERTS: azurite.caFile },
      credential: azurite.credential('warehouse'),
      longLived: AZURITE_KEY,
      secrets: () => [AZURITE_KEY, 'sig='],
      kill: async () => azurite.pause(),
      start: async () => azurite.resume(),
      openUploads: () => uncommitted(azurite.credential('warehouse')),
      endsUploads: 'skein',
      [Symbol.asyncDispose]: () => all.disposeAsync(),
    };
  },
} as const satisfies Readonly<Record<string, () => Promise<OtherStore>>>;

/** Objects of a container that have blocks and are none yet. */
async function uncommitted(credential: AdlsCredential): Promise<number> {
  const client = new AdlsClient(credential);
  const place = adlsPlace(`abfss://warehouse@${AZURITE_ACCOUNT}.dfs.core.windows.net`);
  const names = async (include: Readonly<Record<string, string>>): Promise<number> => {
    const query = { restype: 'container', comp: 'list', maxresults: '5000', ...include };
    const { body } = await client.send({ method: 'GET', place, query });
    return elements(readXml(body), 'EnumerationResults', 'Blobs', 'Blob').length;
  };
  return (await names({ include: 'uncommittedblobs' })) - (await names({}));
}

const keyInput = (file: string): AccessKeyInput => ({ document: JSON.stringify(readKeyFile(file)) });

async function keyFile(started: AsyncDisposableStack, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-store-key-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'key');
  await writeFile(file, text, { mode: 0o600 });
  return file;
}
