package peers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// MariaDB is a server with an account root that has no password and may do everything, also write files anywhere that
// the server's user may.
type MariaDB struct {
	Addr   string // host:port on loopback
	Socket string
	Folder string // of the server; data and files that a statement wrote without a path are below it

	server *program
	client string
}

// StartMariaDB starts a server; the caller must Stop it. It takes 3 to 6 seconds.
func StartMariaDB() (*MariaDB, error) {
	daemon, err := find("mariadbd")
	if err != nil {
		return nil, err
	}
	install, err := find("mariadb-install-db")
	if err != nil {
		return nil, err
	}
	client, err := find("mariadb")
	if err != nil {
		return nil, err
	}
	folder, as, err := folder("mariadb")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	m := &MariaDB{
		Addr: "127.0.0.1:" + strconv.Itoa(port), Socket: filepath.Join(folder, "s"), Folder: folder, client: client,
	}
	data := filepath.Join(folder, "data")
	err = once(folder, as, install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	m.server, err = start(folder, as, m.ready, daemon, "--no-defaults", "--datadir="+data, "--socket="+m.Socket,
		"--bind-address=127.0.0.1", "--port="+strconv.Itoa(port), "--pid-file="+filepath.Join(folder, "pid"),
		"--innodb-buffer-pool-size=32M", "--secure-file-priv=", "--skip-name-resolve", "--skip-log-bin")
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (m *MariaDB) ready() error {
	conn, err := net.Dial("unix", m.Socket)
	if err != nil {
		return err
	}
	_ = conn.Close()
	_, err = m.SQL("SELECT 1")
	return err
}

// SQL runs statements as root, separated by semicolons, and returns what they answer: values with tabs between them.
func (m *MariaDB) SQL(statements string) (string, error) {
	command := exec.Command(m.client, "--no-defaults", "--protocol=socket", "--socket="+m.Socket, "--user=root", "--batch",
		"--skip-column-names")
	command.Stdin = strings.NewReader(statements)
	output, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run SQL: %w: %s", err, output)
	}
	return string(output), nil
}

// DSN writes where an account reads a schema, for go-sql-driver/mysql.
func (m *MariaDB) DSN(account, password, schema string) string {
	if password != "" {
		account += ":" + password
	}
	return account + "@tcp(" + m.Addr + ")/" + schema
}

// Log returns what the server has logged.
func (m *MariaDB) Log() string { return m.server.log.String() }

// Stop ends the server and removes its folder.
func (m *MariaDB) Stop() error { return m.server.stop() }
