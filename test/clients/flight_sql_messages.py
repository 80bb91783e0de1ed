"""Flight SQL for pyarrow, which has Flight's calls alone: its messages as Protobuf, and a connection that sends them."""

import pyarrow as pa
import pyarrow.flight as flight


def varint(number):
    made = bytearray()
    while number > 127:
        made.append(number % 128 + 128)
        number //= 128
    return bytes(made + bytes([number]))


def message(*fields):
    """A message of (number, value) pairs: text, bytes, whole numbers and booleans; None is left out."""
    made = b""
    for number, value in fields:
        if value is None:
            continue
        if isinstance(value, int):
            made += varint(number * 8) + varint(int(value))
            continue
        data = value.encode() if isinstance(value, str) else value
        made += varint(number * 8 + 2) + varint(len(data)) + data
    return made


def fields(data):
    """The fields of a message, by number: the last value of each."""
    found, at = {}, 0

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    while at < len(data):
        tag = number()
        if tag % 8 == 0:
            found[tag // 8] = number()
        else:
            length = number()
            found[tag // 8] = bytes(data[at : at + length])
            at += length
    return found


def packed(name, *parts):
    """A message in an Any, as commands and the bodies of most actions are."""
    return message((1, f"type.googleapis.com/arrow.flight.protocol.sql.{name}"), (2, message(*parts)))


def signed(number):
    return number - 2**64 if number >= 2**63 else number


class Connection:
    """One sign-in."""

    def __init__(self, url, user, password, **options):
        self.client = flight.FlightClient(url, **options)
        self.options = flight.FlightCallOptions(headers=[self.client.authenticate_basic_token(user, password)])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()

    def info(self, name, *parts):
        return self.client.get_flight_info(flight.FlightDescriptor.for_command(packed(name, *parts)), self.options)

    def reader(self, info):
        [endpoint] = info.endpoints
        return self.client.do_get(endpoint.ticket, self.options)

    def command(self, name, *parts):
        """The rows of a command, whose columns are those of its info."""
        info = self.info(name, *parts)
        table = self.reader(info).read_all()
        assert table.schema.equals(info.schema), f"{table.schema} is not {info.schema}"
        return table

    def query(self, sql, transaction=None):
        return self.command("CommandStatementQuery", (1, sql), (2, transaction))

    def rows(self, sql, transaction=None):
        return [tuple(row.values()) for row in self.query(sql, transaction).to_pylist()]

    def action(self, name, body):
        results = list(self.client.do_action(flight.Action(name, body), self.options))
        return results[0].body.to_pybytes() if results else None

    def unpacked(self, action, *parts):
        """The fields of an action's result; its request and its result are in an Any."""
        answer = self.action(action, packed(f"Action{action}Request", *parts))
        return fields(fields(answer)[2]) if answer else {}

    def put(self, name, *parts, rows=None):
        """Sends rows for a command; answers the fields of the result."""
        table = pa.table({}) if rows is None else rows
        descriptor = flight.FlightDescriptor.for_command(packed(name, *parts))
        writer, results = self.client.do_put(descriptor, table.schema, self.options)
        with writer:
            if rows is not None:
                writer.write_table(table)
            writer.done_writing()
            return fields(results.read().to_pybytes())

    def update(self, sql, transaction=None):
        """Runs a statement without rows; answers how many it has changed."""
        return signed(self.put("CommandStatementUpdate", (1, sql), (2, transaction)).get(1, 0))

    def prepare(self, sql, transaction=None):
        return self.unpacked("CreatePreparedStatement", (1, sql), (2, transaction))

    def begin(self):
        return self.unpacked("BeginTransaction")[1]

    def end(self, transaction, commits):
        self.unpacked("EndTransaction", (1, transaction), (2, 1 if commits else 2))
