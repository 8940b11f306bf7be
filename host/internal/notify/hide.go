package notify

import (
	"errors"
	"net/url"
)

// hideURL takes the address out of an error: many webhooks carry a key in it.
func hideURL(err error) error {
	var about *url.Error
	if errors.As(err, &about) {
		return about.Err
	}
	return err
}
