// Each feature of the Postgres wire by pgx: a line `feature, outcome` for each, with a tab. Argument: the URL.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const slow = "SELECT count(*) FROM range(3000000000) a(i), range(1000) b(j) WHERE hash(i + j) = 1"
const count = 1000

var ctx = context.Background()
var url = os.Args[1]
var tables = 0

func table(c *pgx.Conn, columns string) (string, error) {
	tables++
	name := fmt.Sprintf("pgx_%d_%d", time.Now().UnixNano(), tables)
	_, err := c.Exec(ctx, "CREATE TABLE "+name+" ("+columns+")")
	return name, err
}

func same(given, expected any) error {
	if reflect.DeepEqual(given, expected) {
		return nil
	}
	return fmt.Errorf("%v (%T) is not %v (%T)", given, given, expected, expected)
}

func code(err error, expected string) error {
	var of *pgconn.PgError
	if errors.As(err, &of) && of.Code == expected {
		return nil
	}
	return fmt.Errorf("no error %s: %v", expected, err)
}

func signIn(_ *pgx.Conn) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	config.Password = "wrong"
	_, err = pgx.ConnectConfig(ctx, config)
	return code(err, "28P01")
}

func queries(c *pgx.Conn) error {
	rows, err := c.Query(ctx, "SELECT i::INTEGER, 'v' || i FROM range(3) r(i) ORDER BY i")
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var i int32
		var v string
		err := row.Scan(&i, &v)
		return fmt.Sprint(i, v), err
	})
	return errors.Join(err, same(found, []string{"0v0", "1v1", "2v2"}))
}

func parameters(c *pgx.Conn) error {
	var name string
	err := c.QueryRow(ctx, "SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = $1 AND n_name = $2", 7, "GERMANY").Scan(&name)
	return errors.Join(err, same(name, "GERMANY"))
}

func everyType(c *pgx.Conn) error {
	columns := "k INTEGER, b BOOLEAN, i2 SMALLINT, i8 BIGINT, f REAL, d DOUBLE PRECISION, t TEXT, raw BYTEA, dt DATE, ts TIMESTAMP, tz TIMESTAMPTZ, u UUID, l INTEGER[], tl TEXT[]"
	name, err := table(c, columns)
	if err != nil {
		return err
	}
	utc := func(text string) time.Time {
		at, _ := time.Parse(time.RFC3339Nano, text)
		return at.UTC()
	}
	rows := [][]any{
		{int32(1), true, int32(-32768), int64(math.MinInt64), float32(math.Inf(-1)), 5e-324, "", []byte{}, utc("0001-01-01T00:00:00Z"), utc("0001-01-01T00:00:00Z"), utc("1969-07-20T20:17:40.123456Z"), [16]byte{}, []int32{}, []string{"a", "b,c", "", "x\"\\"}},
		{int32(2), false, int32(32767), int64(math.MaxInt64), float32(0.5), 0.1, "ä€😀\tx'y\"\\", []byte{0, 255, 39, 92}, utc("9999-12-31T00:00:00Z"), utc("2024-02-29T12:34:56.123456Z"), utc("2024-02-29T00:00:00Z"), [16]byte{255, 1}, []int32{1, -3}, []string{"z"}},
	}
	marks := "$1"
	for i := 2; i <= len(rows[0]); i++ {
		marks += fmt.Sprintf(", $%d", i)
	}
	for _, row := range rows {
		if _, err := c.Exec(ctx, "INSERT INTO "+name+" VALUES ("+marks+")", row...); err != nil {
			return err
		}
	}
	if _, err := c.Exec(ctx, "INSERT INTO "+name+" (k) VALUES (3)"); err != nil {
		return err
	}
	found, err := c.Query(ctx, "SELECT * FROM "+name+" ORDER BY k")
	if err != nil {
		return err
	}
	defer found.Close()
	for at := 0; found.Next(); at++ {
		values, err := found.Values()
		if err != nil {
			return err
		}
		for i, value := range values {
			var expected any
			if at < len(rows) {
				expected = rows[at][i]
			} else if i == 0 {
				expected = int32(3)
			}
			if list, ok := value.([]any); ok {
				value, expected = fmt.Sprint(list), fmt.Sprint(expected)
			}
			if moment, ok := value.(time.Time); ok {
				value = moment.UTC()
			}
			if err := same(value, expected); err != nil {
				return fmt.Errorf("column %d of row %d: %w", i, at, err)
			}
		}
	}
	return found.Err()
}

func number(c *pgx.Conn, sql string) int64 {
	var n int64
	if err := c.QueryRow(ctx, sql).Scan(&n); err != nil {
		return -1
	}
	return n
}

func batches(c *pgx.Conn) error {
	name, err := table(c, "i INTEGER, t TEXT")
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for i := range count {
		batch.Queue("INSERT INTO "+name+" VALUES ($1, $2)", i, fmt.Sprint("v", i))
	}
	results := c.SendBatch(ctx, batch)
	for range count {
		tag, err := results.Exec()
		if err := errors.Join(err, same(tag.String(), "INSERT 0 1")); err != nil {
			return errors.Join(err, results.Close())
		}
	}
	if err := results.Close(); err != nil {
		return err
	}
	return same(number(c, "SELECT count(DISTINCT t) FROM "+name), int64(count))
}

func copyOut(c *pgx.Conn) error {
	out := bytes.Buffer{}
	tag, err := c.PgConn().CopyTo(ctx, &out, "COPY (SELECT i, 'v' || i FROM range(3) r(i) ORDER BY i) TO STDOUT CSV")
	return errors.Join(err, same(tag.RowsAffected(), int64(3)), same(out.String(), "0,v0\n1,v1\n2,v2\n"))
}

func copyIn(c *pgx.Conn) error {
	name, err := table(c, "i INTEGER, t TEXT")
	if err != nil {
		return err
	}
	rows := [][]any{}
	for i := range count {
		rows = append(rows, []any{int32(i), fmt.Sprint("v", i)})
	}
	copied, err := c.CopyFrom(ctx, pgx.Identifier{name}, []string{"i", "t"}, pgx.CopyFromRows(rows))
	if err := errors.Join(err, same(copied, int64(count)), same(number(c, "SELECT count(DISTINCT t) FROM "+name), int64(count))); err != nil {
		return err
	}
	_, err = c.PgConn().CopyFrom(ctx, strings.NewReader("x\ta\n"), "COPY "+name+" FROM STDIN")
	return code(err, "22P02")
}

func transactions(c *pgx.Conn) error {
	name, err := table(c, "i INTEGER")
	if err != nil {
		return err
	}
	outer, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	insert := func(tx pgx.Tx, i int) error {
		_, err := tx.Exec(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%d)", name, i))
		return err
	}
	if err := insert(outer, 1); err != nil {
		return err
	}
	inner, err := outer.Begin(ctx)
	if err != nil {
		return err
	}
	_, failed := inner.Exec(ctx, "SELECT nothing_here")
	if err := errors.Join(code(failed, "42703"), inner.Rollback(ctx), insert(outer, 2), outer.Commit(ctx)); err != nil {
		return err
	}
	return same(number(c, "SELECT sum(i)::BIGINT FROM "+name), int64(3))
}

func placed(c *pgx.Conn) error {
	_, err := c.Exec(ctx, "SELECT 1,\n nothing_here")
	var of *pgconn.PgError
	if !errors.As(err, &of) {
		return fmt.Errorf("no error: %w", err)
	}
	return errors.Join(same(of.Code, "42703"), same(of.Position, int32(12)))
}

func cancel(c *pgx.Conn) error {
	go func() {
		time.Sleep(time.Second)
		_ = c.PgConn().CancelRequest(ctx)
	}()
	_, err := c.Exec(ctx, slow)
	return errors.Join(code(err, "57014"), queries(c))
}

func main() {
	features := []struct {
		name string
		run  func(*pgx.Conn) error
	}{
		{"sign in", signIn},
		{"queries", queries},
		{"parameters", parameters},
		{"every type, with edge values and NULL", everyType},
		{"many bound rows", batches},
		{"COPY TO STDOUT", copyOut},
		{"COPY FROM STDIN", copyIn},
		{"transactions and savepoints", transactions},
		{"pipelines", batches},
		{"errors with SQLSTATE and place", placed},
		{"cancel", cancel},
	}
	for _, feature := range features {
		outcome := "ok"
		c, err := pgx.Connect(ctx, url)
		if err == nil {
			_, err = c.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS lake.drivers; USE lake.drivers")
		}
		if err == nil {
			err = feature.run(c)
			_ = c.Close(ctx)
		}
		if err != nil {
			outcome = strings.Join(strings.Fields(err.Error()), " ")
		}
		fmt.Printf("%s\t%s\n", feature.name, outcome)
	}
}
