// Package durable measures the ledger on both of its drivers beside River, a job queue on PostgreSQL, all in one run.
// Every event that is counted was committed to the disk on its own before it was counted.
package durable
