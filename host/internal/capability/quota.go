package capability

import (
	"fmt"
	"sync"
	"time"
)

// Quota bounds what one workspace may hold.
type Quota struct {
	Bytes int64 // sizes of its files, a file with two names counted once; holes count as if they were written
	Files int64 // files, folders and links
}

const (
	maxAccounts  = 4096        // kept for workspaces that are not in use
	trustedFor   = time.Minute // a count is believed that long when nobody used the workspace meanwhile
	recountAfter = time.Second // before it refuses, an account older than this is counted again
)

// Quotas keeps an account of every workspace in use, shared by all calls that use it at once. It may be used from many
// goroutines.
type Quotas struct {
	limit Quota

	mu       sync.Mutex
	accounts map[string]*Account
}

// NewQuotas returns the accounts of a process, none of them opened yet.
func NewQuotas(limit Quota) *Quotas { return &Quotas{limit: limit, accounts: map[string]*Account{}} }

// Open returns the account of a folder, counting what it holds when that is not known. release must follow, once the
// call's files are closed.
func (q *Quotas) Open(dir string) (account *Account, release func(), err error) {
	account, idle := q.join(dir)
	release = func() { q.leave(account) }
	if err := account.refresh(idle); err != nil {
		release()
		return nil, nil, fmt.Errorf("count workspace: %w", err)
	}
	return account, release, nil
}

func (q *Quotas) join(dir string) (account *Account, idle bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	account, there := q.accounts[dir]
	if !there {
		q.forget()
		account = &Account{dir: dir, limit: q.limit, open: map[inode]int{}}
		q.accounts[dir] = account
	}
	account.users++
	return account, account.users == 1
}

// forget drops accounts that nobody uses when there are too many.
func (q *Quotas) forget() {
	if len(q.accounts) < maxAccounts {
		return
	}
	for dir, account := range q.accounts {
		if account.users == 0 {
			delete(q.accounts, dir)
		}
	}
}

func (q *Quotas) leave(account *Account) {
	q.mu.Lock()
	defer q.mu.Unlock()
	account.users--
}
