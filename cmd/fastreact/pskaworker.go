package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/cmd/fastreact/pskaworker"
	"github.com/fastreact/fastreact/sdk/client"
)

type workerFlags struct {
	config                 pskaworker.Config
	tokenEnv, pskaTokenEnv string
	leaseSeconds           int
	asJSON                 bool
}

func newPSKAWorker(p program) *cobra.Command {
	f := &workerFlags{}
	command := &cobra.Command{
		Use: "pska-worker", Short: "Digest what PSKA has queued, with runs of a service", Args: exactly(),
		Long: "Leases PSKA's digest jobs, lets the service run over each batch and reports the results. Any number of\n" +
			"workers may run: a job is completed once, and one whose worker dies is taken up by another. SIGTERM lets\n" +
			"runs under way finish within --grace, then hands their jobs back.",
		Example: "  fastreact pska-worker --pska-url http://127.0.0.1:8765\n" +
			"  fastreact pska-worker --pska-url http://127.0.0.1:8765 --once",
		RunE: func(command *cobra.Command, _ []string) error { return f.run(command, p) },
	}
	f.declare(command)
	return command
}

func (f *workerFlags) declare(command *cobra.Command) {
	flags, c := command.Flags(), &f.config
	flags.StringVar(&c.PSKA.URL, "pska-url", "", "base URL of PSKA's job API (required)")
	flags.StringVar(&f.pskaTokenEnv, "pska-token-env", "PSKA_SERVICE_TOKEN", "environment variable that holds PSKA's service token")
	flags.StringVar(&c.PSKA.Caller, "pska-caller", "pska_digest_worker", "X-PSKA-Caller of every request")
	flags.StringVar(&c.PSKA.Tenant, "pska-tenant", "pska", "tenant of jobs that name none")
	flags.StringVar(&c.PSKA.User, "pska-user", "user_primary", "user of jobs that name none")
	flags.StringVar(&c.Service.URL, "url", client.DefaultURL, "base URL of the FastReAct service")
	flags.StringVar(&f.tokenEnv, "token-env", "FASTREACT_SERVICE_TOKEN", "environment variable that holds the service token")
	flags.StringVar(&c.WorkerID, "worker-id", "", "name of this worker, different for each; made up when empty")
	flags.DurationVar(&c.Poll, "poll", 5*time.Second, "how often to look for jobs")
	flags.IntVar(&f.leaseSeconds, "lease-seconds", 300, "length of a lease; it is renewed while the run lives")
	flags.IntVar(&c.Concurrency, "concurrency", 1, "jobs at once")
	flags.BoolVar(&c.Once, "once", false, "work through what is due, then end")
	flags.DurationVar(&c.Grace, "grace", 20*time.Second, "how long runs may go on after SIGTERM")
	flags.DurationVar(&c.RunTimeout, "run-timeout", 30*time.Minute, "how long one job may take")
	flags.StringSliceVar(&c.AllowedTools, "allowed-tools", pskaworker.DefaultTools(), "tools a digest run may call")
	flags.IntVar(&c.MaxBatchBytes, "max-batch-bytes", 256<<10, "how much of a batch the model is shown")
	flags.BoolVar(&f.asJSON, "json", false, "log as JSON")
}

func (f *workerFlags) run(command *cobra.Command, p program) error {
	if err := f.check(); err != nil {
		return usageError{err}
	}
	c := f.config
	c.Lease = time.Duration(f.leaseSeconds) * time.Second
	c.PSKA.Token, c.Service.Token = p.getenv(f.pskaTokenEnv), p.getenv(f.tokenEnv)
	if c.WorkerID == "" {
		c.WorkerID = madeUpName()
	}
	c.Log = slog.New(slog.NewTextHandler(p.errs, nil))
	if f.asJSON {
		c.Log = slog.New(slog.NewJSONHandler(p.errs, nil))
	}
	worker, err := pskaworker.New(c)
	if err != nil {
		return usageError{err}
	}
	ctx, stop := interruptible(command.Context())
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	c.Log.Info("worker started", slog.String("worker_id", c.WorkerID), slog.String("pska_url", c.PSKA.URL), slog.String("url", c.Service.URL))
	if err := worker.Run(ctx); err != nil {
		return advice{err, "Is PSKA running at " + c.PSKA.URL + ", and its token in " + f.pskaTokenEnv + "?"}
	}
	return nil
}

// check refuses what no worker could work with.
func (f *workerFlags) check() error {
	switch c := f.config; {
	case c.PSKA.URL == "":
		return fmt.Errorf("--pska-url is missing")
	case f.leaseSeconds < 1 || f.leaseSeconds > 86400:
		return fmt.Errorf("--lease-seconds must lie between 1 and 86400")
	case c.Concurrency < 1 || c.Concurrency > 64:
		return fmt.Errorf("--concurrency must lie between 1 and 64")
	case c.Poll < 10*time.Millisecond || c.Poll > time.Hour:
		return fmt.Errorf("--poll must lie between 10ms and 1h")
	case c.Grace < 0 || c.RunTimeout < time.Second:
		return fmt.Errorf("--grace must not be negative, and --run-timeout at least 1s")
	case c.MaxBatchBytes < 1 || c.MaxBatchBytes > 16<<20:
		return fmt.Errorf("--max-batch-bytes must lie between 1 and 16777216")
	}
	return nil
}

// madeUpName names a worker that was given no name.
func madeUpName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	var salt [3]byte
	_, _ = rand.Read(salt[:]) // it never fails
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), hex.EncodeToString(salt[:]))
}
