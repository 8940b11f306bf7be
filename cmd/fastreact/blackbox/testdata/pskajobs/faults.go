package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// fault is one way to misbehave, for the next requests that match.
type fault struct {
	Kind   string `json:"kind"`   // drop: no answer, not done. lose: done, no answer. twice: done two times. status, delay
	Method string `json:"method"` // empty matches any
	Path   string `json:"path"`   // a part of the path
	Times  int    `json:"times"`  // how often; -1 for ever
	Status int    `json:"status"` // of kind status
	MS     int    `json:"ms"`     // of kind delay
}

// addFaults adds to the script; an empty list clears it.
func (s *server) addFaults(w http.ResponseWriter, r *http.Request) {
	var faults []*fault
	if err := json.NewDecoder(r.Body).Decode(&faults); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(faults) == 0 {
		s.faults = nil
	}
	s.faults = append(s.faults, faults...)
	answer(w, http.StatusOK, map[string]any{})
}

// steal gives a job to another worker, as if its lease had run out.
func (s *server) steal(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	thief, until := "thief", time.Now().Add(time.Hour)
	j := s.jobs[r.PathValue("id")]
	s.move(j, "running", thief)
	j.Worker, j.Lease = &thief, &until
	answer(w, http.StatusOK, j)
}

func (s *server) next(r *http.Request) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Headers: map[string]string{}}
	for name := range r.Header {
		seen.Headers[name] = r.Header.Get(name)
	}
	found := fault{}
	for _, f := range s.faults {
		if f.Times != 0 && (f.Method == "" || f.Method == r.Method) && strings.Contains(r.URL.Path, f.Path) {
			f.Times = max(f.Times-1, -1)
			found, seen.Fault = *f, f.Kind
			break
		}
	}
	s.requests = append(s.requests, seen)
	return found
}

// misbehave does what the script says, and asks for the token.
func (s *server) misbehave(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := s.next(r)
		if s.token != "" && r.Header.Get("X-PSKA-Service-Token") != s.token {
			refuse(w, http.StatusUnauthorized, "wrong token")
			return
		}
		body, _ := io.ReadAll(r.Body)
		again := func() *http.Request {
			copied := r.Clone(r.Context())
			copied.Body = io.NopCloser(bytes.NewReader(body))
			return copied
		}
		switch f.Kind {
		case "drop":
			panic(http.ErrAbortHandler)
		case "lose":
			api.ServeHTTP(httptest.NewRecorder(), again())
			panic(http.ErrAbortHandler)
		case "twice":
			api.ServeHTTP(httptest.NewRecorder(), again())
		case "status":
			refuse(w, f.Status, "scripted")
			return
		case "delay":
			time.Sleep(time.Duration(f.MS) * time.Millisecond)
		}
		api.ServeHTTP(w, again())
	})
}
