package mysql

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/testdata/peers"
)

// The one server of this package's tests starts when a test first needs it.
var server = sync.OnceValues(func() (*peers.MariaDB, error) {
	m, err := peers.StartMariaDB()
	if err != nil {
		return nil, err
	}
	if _, err := m.SQL(schema); err != nil {
		return nil, errors.Join(err, m.Stop())
	}
	return m, nil
})

const schema = `
create database shop;
use shop;
create table requests (id int primary key auto_increment, path varchar(64), ms int, at timestamp(3) default current_timestamp(3), body text, shape json);
insert into requests (path, ms, body) select concat('/p', seq % 7), seq, repeat('x', 100) from seq_1_to_1000;
create table counter (n int);
create table blobs (b longblob);
insert into blobs values (repeat('y', 5000000));
create sequence seq;
create view slow as select * from requests where ms > 900;
delimiter //
create function bump() returns int modifies sql data begin insert into counter values (1); return 1; end //
create procedure p() begin insert into counter values (1); end //
delimiter ;
create user reader identified by 'reader-canary-1';
grant select, show view on shop.* to reader;
grant process, replication client on *.* to reader;
create user boss identified by 'boss-canary-2';
grant all on *.* to boss with grant option;
create user filer identified by 'filer-canary-3';
grant file on *.* to filer;
grant select on shop.* to filer;
create user clerk identified by 'clerk-canary-4';
grant select, insert (path), update (ms, path) on shop.requests to clerk;
create role wide;
grant delete on shop.* to wide;
create user player identified by 'player-canary-5';
grant select on shop.* to player;
grant wide to player;
`

func TestMain(m *testing.M) {
	code := m.Run()
	if started.Load() {
		if maria, err := server(); err == nil {
			_ = maria.Stop()
		}
	}
	os.Exit(code)
}

// mariadb returns the server, or skips.
func mariadb(t testing.TB) *peers.MariaDB {
	t.Helper()
	started.Store(true)
	maria, err := server()
	if errors.Is(err, peers.ErrMissing) {
		peers.Missing(t, "mariadb-server")
	}
	if err != nil {
		t.Fatal(err)
	}
	return maria
}

// sourceOf returns a source whose datasources are accounts of the server, by their names.
func sourceOf(t testing.TB, change func(*Config)) *Source {
	t.Helper()
	maria := mariadb(t)
	config := Config{
		Datasources: map[string]Datasource{}, Rows: 200, Bytes: 65536, Timeout: 10 * time.Second, Excerpt: 2048,
		Clock: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for number, account := range []string{"reader", "boss", "filer", "clerk", "player"} {
		dsn := maria.DSN(account, fmt.Sprintf("%s-canary-%d", account, number+1), "shop")
		config.Datasources[account] = Datasource{DSN: dsn}
	}
	if change != nil {
		change(&config)
	}
	source, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// state is what must not change: rows, accounts, sequence, settings, locks and open transactions.
func state(t testing.TB) string {
	t.Helper()
	text, err := mariadb(t).SQL(`
checksum table shop.requests, shop.counter, shop.blobs, mysql.global_priv, mysql.db;
select next_not_cached_value from shop.seq;
select count(*), group_concat(table_name order by table_name) from information_schema.tables where table_schema not in ('mysql', 'sys');
select @@global.sql_mode, @@global.general_log, @@global.slow_query_log, @@global.read_only;
select count(*) from information_schema.innodb_trx;
select is_free_lock('a');
`)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
