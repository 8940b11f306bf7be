// Command pskajobs is a stand-in for PSKA's job API, for tests and for trying the digest worker by hand. It keeps jobs
// in memory, misbehaves by a script, and writes every change of a job to a log: the log is the oracle.
//
//	go run ./cmd/fastreact/blackbox/testdata/pskajobs -addr 127.0.0.1:8765 -log /tmp/jobs.log
//	curl -d '{"id":"job-1","items":[{"source_item_id":"src_a","text":"…"}]}' http://127.0.0.1:8765/_control/jobs
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	file := flag.String("log", "", "file that every change of a job is written to")
	token := flag.String("token", "", "service token that requests must carry")
	flag.Parse()
	s := &server{token: *token, jobs: map[string]*job{}, journal: os.Stderr}
	if *file != "" {
		journal, err := os.OpenFile(*file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			log.Fatal(err)
		}
		s.journal = journal
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("pskajobs listens on http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, s.routes()))
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /_control/jobs", s.addJob)
	mux.HandleFunc("GET /_control/jobs", s.showJobs)
	mux.HandleFunc("GET /_control/requests", s.showRequests)
	mux.HandleFunc("POST /_control/faults", s.addFaults)
	mux.HandleFunc("POST /_control/steal/{id}", s.steal)
	api := http.NewServeMux()
	api.HandleFunc("GET /jobs", s.listJobs)
	api.HandleFunc("POST /jobs/{id}/lease", s.lease)
	api.HandleFunc("POST /jobs/{id}/complete", s.complete)
	api.HandleFunc("POST /jobs/{id}/fail", s.fail)
	api.HandleFunc("GET /digest/batches/{id}", s.batch)
	mux.Handle("/", s.misbehave(api))
	return mux
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, text string) {
	answer(w, status, map[string]any{"detail": text})
}
