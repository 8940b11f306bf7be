package mysql

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// harmlessPrivileges let an account read, or see how a server is.
const harmlessPrivileges = "USAGE,SELECT,SHOW VIEW,SHOW DATABASES,PROCESS,REPLICATION CLIENT,BINLOG MONITOR," +
	"SLAVE MONITOR,REPLICA MONITOR"

// knownPrivileges may be named to an operator.
const knownPrivileges = "ALL PRIVILEGES,FILE,SUPER,INSERT,UPDATE,DELETE,CREATE,DROP,ALTER,INDEX,REFERENCES,CREATE VIEW," +
	"CREATE ROUTINE,ALTER ROUTINE,EXECUTE,TRIGGER,EVENT,LOCK TABLES,CREATE TEMPORARY TABLES,RELOAD,SHUTDOWN,CREATE USER," +
	"PROXY,REPLICATION SLAVE,CREATE TABLESPACE,DELETE HISTORY,SET USER"

// privileges says in one sentence what an account may do that is more than reading; an empty sentence is none. What
// cannot be told for certain, such as a role, counts as more.
func (s *session) privileges(ctx context.Context) (trouble string, err error) {
	grants, err := s.read(ctx, "SHOW GRANTS", 1000, 1<<20)
	if err != nil {
		return "", err
	}
	if len(grants.rows) == 0 || grants.cut {
		return "", errors.New("the server does not tell all grants")
	}
	var more []string
	for _, row := range grants.rows {
		if len(row) != 1 {
			return "", errors.New("the server tells grants in a form that is not known")
		}
		more = append(more, excess(row[0].text)...)
	}
	if len(more) == 0 {
		return "", nil
	}
	slices.Sort(more)
	return "Its account may do more than read (" + strings.Join(slices.Compact(more), ", ") +
		"): grant it SELECT alone.", nil
}

// excess lists what one line of SHOW GRANTS grants beyond reading.
func excess(line string) []string {
	rest, grants := strings.CutPrefix(strings.TrimSpace(line), "GRANT ")
	if !grants {
		if strings.HasPrefix(line, "REVOKE ") {
			return nil
		}
		return []string{"a role"}
	}
	var more []string
	names, after, scoped := cutOutside(rest, " ON ")
	if !scoped {
		return []string{"a role"}
	}
	if strings.HasSuffix(after, "WITH GRANT OPTION") {
		more = append(more, "GRANT OPTION")
	}
	for names != "" {
		var name string
		name, names, _ = cutOutside(names, ",")
		if bracket := strings.IndexByte(name, '('); bracket >= 0 {
			name = name[:bracket] // the columns that it is for
		}
		name = strings.ToUpper(strings.TrimSpace(name))
		switch {
		case listed(harmlessPrivileges, name):
		case listed(knownPrivileges, name):
			more = append(more, name)
		default:
			more = append(more, "another privilege")
		}
	}
	return more
}

func listed(list, name string) bool { return slices.Contains(strings.Split(list, ","), name) }

// cutOutside cuts text at the first mark that stands in no brackets and no quotes.
func cutOutside(text, mark string) (before, after string, found bool) {
	depth, quote := 0, byte(0)
	for i := range len(text) {
		at := text[i]
		switch {
		case quote != 0:
			if at == quote {
				quote = 0
			}
		case at == '`' || at == '\'' || at == '"':
			quote = at
		case depth == 0 && strings.HasPrefix(text[i:], mark):
			return text[:i], text[i+len(mark):], true
		case at == '(':
			depth++
		case at == ')':
			depth--
		}
	}
	return text, "", false
}
