package host

import "time"

// NotifyConfig says who is told of approvals.
type NotifyConfig struct {
	WebhookURL  string        `key:"webhook_url" default:"" about:"Address that is told of every approval that is asked for and settled; empty tells nobody."`
	SecretEnv   string        `key:"secret_env" default:"" about:"Environment variable that holds the secret notices are signed with; a webhook needs one."`
	SecretFile  string        `key:"secret_file" default:"" about:"File that holds the secret, instead of a variable."`
	Timeout     time.Duration `key:"timeout" default:"10s" min:"10ms" max:"5m" about:"How long the receiver may take to answer."`
	MaxAttempts int           `key:"max_attempts" default:"20" min:"1" max:"1000" about:"Tries of one notice before it is given up; pauses grow from 1 s to 5 min."`

	Secret Secret // resolved from the keys above
}

// leastNotifySecret is the shortest secret that signs anything, in bytes.
const leastNotifySecret = 16

// validateNotify refuses a webhook whose notices nobody could tell from forged ones.
func (c Config) validateNotify(report reporter) {
	notify := c.Approvals.Notify
	if notify.WebhookURL == "" {
		return
	}
	if problem := urlProblem(notify.WebhookURL); problem != "" {
		report("approvals.notify.webhook_url", problem, "use a form like https://ops.example/fastreact")
	}
	switch {
	case notify.Secret == "":
		report("approvals.notify.secret_env", "the webhook has no secret to sign with",
			"name an environment variable that holds one, or a file with secret_file")
	case len(notify.Secret.Reveal()) < leastNotifySecret:
		report("approvals.notify.secret_env", "the secret is shorter than 16 bytes", "use a long random one")
	case notify.Secret == c.Auth.ServiceToken || notify.Secret == c.Auth.AdminToken:
		report("approvals.notify.secret_env", "the secret is also a token of this service", "use a secret of its own")
	}
}
