import { quoteLiteral } from '#shared/sql/quote.ts';
import { objectPath, type ObjectPath } from './statements.ts';

/** Lines to paste for a client; none has a secret: a token is named, and taken from the environment. */
export type ConnectLines = { readonly client: string; readonly lines: string };

export type ConnectPlace = {
  /** The page's own. */
  readonly origin: string;
  /** The address of the Iceberg REST catalog, as the server names it. */
  readonly catalogUrl: string;
  /** The reader's name, beside which the token stands where a client wants both. */
  readonly username: string;
};

/** The token's variable. Skein's own commands read it, and refuse variables of theirs that they do not know. */
const TOKEN = 'SKEIN_CLIENT_TOKEN';

export function connectLines(
  path: ObjectPath,
  { origin, catalogUrl, username }: ConnectPlace,
): readonly ConnectLines[] {
  const query = `SELECT * FROM ${objectPath(path)} LIMIT 10`;
  const { hostname, protocol } = new URL(origin);
  const isSafe = protocol === 'https:';
  const iceberg = [...path.schema.split('.'), path.name];
  const python = JSON.stringify;
  return [
    { client: 'skein sql', lines: `skein sql --url ${origin} -e ${shellQuote(query)}` },
    {
      client: 'HTTP',
      lines: `curl -s ${origin}/api/query -H "authorization: Bearer $${TOKEN}" -H 'content-type: application/json' \\\n  -d ${shellQuote(JSON.stringify({ sql: query }))}`,
    },
    {
      client: 'psql',
      lines: `PGPASSWORD="$${TOKEN}" psql -h ${hostname} -p 5433 -U ${shellQuote(username)} -d ${shellQuote(path.catalog)} -c ${shellQuote(query)}`,
    },
    {
      client: 'Python (Flight SQL)',
      lines: `import os, adbc_driver_flightsql.dbapi as flight\nwith flight.connect("grpc+${isSafe ? 'tls' : 'tcp'}://${hostname}:8082", db_kwargs={"adbc.flight.sql.authorization_header": "Bearer " + os.environ["${TOKEN}"]}) as connection:\n    with connection.cursor() as cursor:\n        cursor.execute(${python(query)})\n        print(cursor.fetch_arrow_table())`,
    },
    {
      client: 'JDBC (DBeaver, DataGrip; the token is the password)',
      lines: `jdbc:arrow-flight-sql://${hostname}:8082?useEncryption=${isSafe}&catalog=${encodeURIComponent(path.catalog)}&user=${encodeURIComponent(username)}`,
    },
    {
      client: 'PyIceberg',
      lines: `import os\nfrom pyiceberg.catalog import load_catalog\ncatalog = load_catalog("skein", uri=${python(catalogUrl)}, warehouse=${python(path.catalog)}, token=os.environ["${TOKEN}"])\nprint(catalog.load_table((${iceberg.map((part) => python(part)).join(', ')})).scan(limit=10).to_arrow())`,
    },
    {
      client: 'DuckDB',
      lines: `INSTALL iceberg; LOAD iceberg;\nCREATE SECRET (TYPE iceberg, TOKEN getenv('${TOKEN}'));\nATTACH ${quoteLiteral(path.catalog)} AS skein (TYPE iceberg, ENDPOINT ${quoteLiteral(catalogUrl)});`,
    },
    {
      client: 'Spark',
      lines: `--conf spark.sql.catalog.skein=org.apache.iceberg.spark.SparkCatalog \\\n--conf spark.sql.catalog.skein.type=rest --conf spark.sql.catalog.skein.uri=${shellQuote(catalogUrl)} \\\n--conf spark.sql.catalog.skein.warehouse=${shellQuote(path.catalog)} --conf spark.sql.catalog.skein.token="$${TOKEN}"`,
    },
  ];
}

const shellQuote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
