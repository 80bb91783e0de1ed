import { quoteLiteral } from '#shared/sql/quote.ts';
import { objectPath, type ObjectPath } from './statements.ts';

/** Lines to paste for a client; none has a secret: a token is named, and taken from the environment. */
export type ConnectLines = { readonly client: string; readonly lines: string };

/** @param origin of this page @param catalogUrl of the Iceberg REST catalog, as the server names it */
export function connectLines(path: ObjectPath, origin: string, catalogUrl: string): readonly ConnectLines[] {
  const name = objectPath(path);
  const { hostname } = new URL(origin);
  const iceberg = [...path.schema.split('.'), path.name];
  const python = JSON.stringify;
  return [
    {
      client: 'skein sql',
      lines: `skein sql "SELECT * FROM ${name.replaceAll(/["\\$`]/g, String.raw`\$&`)} LIMIT 10"`,
    },
    {
      client: 'HTTP',
      lines: `curl -s ${origin}/api/query -H "authorization: Bearer $SKEIN_TOKEN" -H 'content-type: application/json' \\\n  -d ${shellQuote(JSON.stringify({ sql: `SELECT * FROM ${name} LIMIT 10` }))}`,
    },
    {
      client: 'psql',
      lines: `PGPASSWORD="$SKEIN_TOKEN" psql -h ${hostname} -p 5433 -U "$USER" ${shellQuote(path.catalog)} -c ${shellQuote(`SELECT * FROM ${name} LIMIT 10`)}`,
    },
    {
      client: 'Python (Flight SQL)',
      lines: `import os, adbc_driver_flightsql.dbapi as flight\nwith flight.connect("grpc://${hostname}:8082", db_kwargs={"adbc.flight.sql.authorization_header": "Bearer " + os.environ["SKEIN_TOKEN"]}) as connection:\n    with connection.cursor() as cursor:\n        cursor.execute(${python(`SELECT * FROM ${name} LIMIT 10`)})\n        print(cursor.fetch_arrow_table())`,
    },
    {
      client: 'PyIceberg',
      lines: `import os\nfrom pyiceberg.catalog import load_catalog\ncatalog = load_catalog("skein", uri=${python(catalogUrl)}, warehouse=${python(path.catalog)}, token=os.environ["SKEIN_TOKEN"])\nprint(catalog.load_table((${iceberg.map((part) => python(part)).join(', ')})).scan(limit=10).to_arrow())`,
    },
    {
      client: 'DuckDB',
      lines: `INSTALL iceberg; LOAD iceberg;\nCREATE SECRET (TYPE iceberg, TOKEN getenv('SKEIN_TOKEN'));\nATTACH ${quoteLiteral(path.catalog)} AS skein (TYPE iceberg, ENDPOINT ${quoteLiteral(catalogUrl)});`,
    },
    {
      client: 'Spark',
      lines: `--conf spark.sql.catalog.skein=org.apache.iceberg.spark.SparkCatalog \\\n--conf spark.sql.catalog.skein.type=rest --conf spark.sql.catalog.skein.uri=${shellQuote(catalogUrl)} \\\n--conf spark.sql.catalog.skein.warehouse=${shellQuote(path.catalog)} --conf spark.sql.catalog.skein.token="$SKEIN_TOKEN"`,
    },
  ];
}

const shellQuote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
