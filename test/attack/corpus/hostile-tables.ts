import { randomUUID } from 'node:crypto';
import { fileStorage } from '#test/support/file-storage.ts';
import { drawInput, type Decoder } from '#test/fuzz/decoder.ts';
import { MANIFEST } from '#test/fuzz/decoders/avro.ts';
import { DELETION_VECTOR } from '#test/fuzz/decoders/deletion-vector.ts';
import { TABLE_METADATA } from '#test/fuzz/decoders/metadata.ts';
import { PARQUET_FOOTER } from '#test/fuzz/decoders/parquet-footer.ts';
import { avroContainer, bomb, exponentialSchema } from '#test/support/hostile-avro.ts';
import { createTableOfFiles, type ListedFile } from '#test/support/hostile-files.ts';
import { SCHEMA } from '#test/support/catalog-requests.ts';
import { createHostileTable, type CatalogPost } from '#test/support/hostile-table.ts';
import { between, oneOf } from './hostile-statements.ts';

/**
 * Tables of the attackers' tenant with arbitrary bytes as files: an owner can write anything into a table's folder, and the catalog and SQL
 * read it. The bytes are drawn like those of `npm run fuzz`.
 */
export type HostileTableKind = {
  readonly name: string;
  /** Creates the table; refusals on the way are expected. */
  readonly make: (post: CatalogPost, table: string, random: () => number) => Promise<void>;
};

const SEED_MAX = 2 ** 31;
const LEVELS_MAX = 60;
const BOMB_BYTES_MAX = 64 * 2 ** 20;

const drawn = (decoder: Decoder, random: () => number): Buffer => drawInput(decoder, between(random, 1, SEED_MAX), 0);

/** @returns the file as a manifest lists it */
async function written(path: string, bytes: Uint8Array): Promise<ListedFile> {
  await fileStorage.write(path, bytes);
  return { path, sizeBytes: bytes.length, content: 'data' };
}

export const HOSTILE_TABLES: readonly HostileTableKind[] = [
  {
    name: 'a table of a drawn manifest',
    make: async (post, table, random) => {
      await createHostileTable(post, table, [drawn(MANIFEST, random), drawn(MANIFEST, random)]);
    },
  },
  {
    name: 'a table of a manifest that multiplies',
    make: async (post, table, random) => {
      const schema = exponentialSchema(between(random, 4, LEVELS_MAX), between(random, 2, 12));
      await createHostileTable(post, table, [avroContainer(schema, [{ count: 1, bytes: Buffer.alloc(64) }])]);
    },
  },
  {
    name: 'a table of a manifest that unpacks to much',
    make: async (post, table, random) => {
      const codec = oneOf(random, ['deflate', 'zstandard'] as const);
      const block = { count: 1, bytes: bomb(codec, between(random, 1, BOMB_BYTES_MAX)) };
      await createHostileTable(post, table, [
        avroContainer('{"type":"record","name":"r","fields":[]}', [block], codec),
      ]);
    },
  },
  {
    name: 'a table of a drawn data file',
    make: (post, table, random) =>
      createTableOfFiles(post, table, async (location) => [
        await written(`${location}/data/${randomUUID()}.parquet`, drawn(PARQUET_FOOTER, random)),
      ]),
  },
  {
    name: 'a table of a drawn deletion vector',
    make: (post, table, random) =>
      createTableOfFiles(post, table, async (location) => {
        const data = await written(`${location}/data/${randomUUID()}.parquet`, drawn(PARQUET_FOOTER, random));
        const deletes = await written(`${location}/data/${randomUUID()}.puffin`, drawn(DELETION_VECTOR, random));
        const vector = { dataFile: data.path, cardinality: between(random, 1, SEED_MAX) };
        return [data, { ...deletes, content: 'position-deletes', vector }];
      }),
  },
  {
    name: 'a table of drawn metadata',
    make: async (post, table, random) => {
      const created = await post('/namespaces/default/tables', { name: `${table}_place`, schema: SCHEMA });
      const { location } = created['metadata'] as { location: string };
      const text = drawn(TABLE_METADATA, random).toString('utf8').replaceAll('file:///w/t', `${location}/inner`);
      const file = `${location}/metadata/${randomUUID()}.metadata.json`;
      await fileStorage.write(file, Buffer.from(text));
      await post('/namespaces/default/register', { name: table, 'metadata-location': file });
    },
  },
];
