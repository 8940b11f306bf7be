//go:build !unix

package logs

// nonblocking means nothing where no pipe stands in a folder.
const nonblocking = 0
