// Package blackbox holds tests only: they drive the built program from outside, over HTTP and signals, with a
// scripted model API and a scripted MCP server on the other side, and believe only what arrives there.
package blackbox
