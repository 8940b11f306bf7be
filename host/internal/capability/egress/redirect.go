package egress

import (
	"maps"
	"net/http"
	"net/url"
)

func redirects(response *http.Response) bool {
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return response.Header.Get("Location") != ""
	}
	return false
}

// locate reads where an answer sends its reader. It may be sent on only to what is granted, and never from HTTPS to
// HTTP.
func locate(response *http.Response, from target, base *url.URL, grants Grants, method string) (target, *url.URL, error) {
	next, err := base.Parse(response.Header.Get("Location"))
	if err != nil {
		return target{}, nil, &Refusal{RedirectRefused, "The answer is a redirect that cannot be read.", err}
	}
	next.Fragment = ""
	at, out, err := readURL(next)
	if err == nil && from.scheme == "https" && at.scheme == "http" {
		err = refuse(NotGranted, "from HTTPS to HTTP")
	}
	if err == nil {
		err = grants.allows(at, method)
	}
	if err != nil {
		return target{}, nil, &Refusal{RedirectRefused, "The answer is a redirect to where this request may not go.", err}
	}
	return at, out, nil
}

// after returns the method with which a redirect is followed, and whether the body goes with it.
func after(status int, method string) (next string, withBody bool) {
	switch {
	case status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect:
		return method, true
	case method == http.MethodHead:
		return method, false
	}
	return http.MethodGet, false
}

// follow returns the request that a redirect asks for. To another origin no credential goes with it: neither a header
// that is one by its name, nor any that named a secret.
func (d draft) follow(response *http.Response, grants Grants, v Vault) (draft, error) {
	method, withBody := after(response.StatusCode, d.method)
	at, out, err := locate(response, d.at, d.url, grants, method)
	if err != nil {
		return draft{}, err
	}
	next := draft{method: method, at: at, url: out, header: maps.Clone(d.header)}
	if withBody {
		next.body = d.body
	} else {
		delete(next.header, "Content-Type")
	}
	if namesSecret(out.String()) {
		return draft{}, refuse(RedirectRefused, "The answer is a redirect that names a secret.")
	}
	if at == d.at {
		return next, nil
	}
	for name, value := range next.header {
		if name == "Authorization" || name == "Cookie" || namesSecret(value) {
			delete(next.header, name)
		}
	}
	if namesSecret(string(next.body)) {
		return draft{}, refuse(RedirectRefused, "The answer is a redirect that would carry a secret elsewhere.")
	}
	if v.shows(out.String()) {
		return draft{}, refuse(SecretInResponse, "The answer shows a secret.")
	}
	return next, nil
}
