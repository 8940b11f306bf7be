# FastReAct needs Go and nothing else for run, build and test. Everything is written below this folder and Go's caches.
SHELL := /bin/sh
COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.commit=$(COMMIT)
GOBUILD := CGO_ENABLED=0 go build -trimpath -ldflags="$(LDFLAGS)"
RACE := $(shell command -v $${CC:-cc} >/dev/null 2>&1 && echo -race)
# The compiler of the WebAssembly engine and SQLite, which is C written in Go by a machine, are somebody else's and three
# to ten times slower when they are watched, to compile too: the race detector leaves them out, and watches everything
# of ours and what calls them.
WAZEVO := github.com/tetratelabs/wazero/internal/engine/wazevo
OTHERS := $(WAZEVO)/ssa $(WAZEVO)/frontend $(WAZEVO)/backend/... modernc.org/sqlite/lib modernc.org/libc/...
UNWATCHED := $(if $(RACE),$(foreach part,$(OTHERS),-gcflags=$(part)=-race=false))
METER := host/internal/wasm/meter
BENCHTIME ?= 1s
LOAD_ROUNDS ?= 15
CHAOS_ROUNDS ?= 25
SOAK_KILLS ?= 300
PARKED ?= 100000
CHAOS := go test -count=1 -timeout 4h -v
SOURCES := $(shell find cmd host sdk plugins policies examples -name '*.go' -o -name '*.json' -o -name '*.h' -o -name '*.tmpl' -o -name '*.md' -o -name '*.yaml' -o -path '*/web/*/page/*' -o -path '*/web/parts/*' 2>/dev/null) go.mod go.sum

# What builds and tests write for a moment stays below this folder too.
export TMPDIR := $(CURDIR)/.tmp
$(shell mkdir -p $(TMPDIR))
# Packages that start the program share what it compiled.
export FASTREACT_TEST_CACHE := $(TMPDIR)/modules

.DEFAULT_GOAL := help
.PHONY: help run build plugins test check bench chaos soak load clean peers

help: ## list what this Makefile can do
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' Makefile

run: build ## build everything and start the demo on http://127.0.0.1:18741
	@echo "starting FastReAct on http://127.0.0.1:18741 with a scripted demo model, a small knowledge server, the log of a shop in trouble and two invented investigations; Ctrl-C stops it"
	@exec bin/fastreact serve --config examples/demo/fastreact.yaml

build: bin/fastreact bin/pska-kb ## build bin/fastreact (plugins included) and bin/pska-kb

bin/fastreact: plugins $(SOURCES)
	$(GOBUILD) -o $@ ./cmd/fastreact

bin/pska-kb: $(SOURCES)
	$(GOBUILD) -o $@ ./examples/pska-kb

plugins: ## build the built-in WebAssembly plugins into plugins/builtin/dist
	go run ./plugins/builtin/make

# What go vet has to say is said by make check. The meter turns bytes into bytes and shares nothing: the race detector would
# watch modules' memories there, at three times the price, and nothing of ours.
test: plugins peers ## run every test, with the race detector where a C compiler exists
	@if [ -z "$(RACE)" ]; then echo "race detector: off (no C compiler found)"; else echo "race detector: on"; fi
	CGO_ENABLED=$(if $(RACE),1,0) go test -vet=off ./$(METER)
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) $(UNWATCHED) -vet=off -timeout 20m $$(go list ./... | grep -v '/$(METER)$$')

# A seed that failed is tried again with FASTREACT_CHAOS_SEED.
chaos: plugins ## end, stop and cut off nodes at every point there is, on both stores, for some minutes
	FASTREACT_CHAOS_ROUNDS=$(CHAOS_ROUNDS) $(CHAOS) ./cmd/fastreact/chaos
	FASTREACT_PARKED=$(PARKED) go test -count=1 -timeout 30m -v -run TestManyParkedRuns ./cmd/fastreact/blackbox

soak: plugins ## a million interleaved calls of a plugin that leaks, each as from a fresh instance; 300 random kills on each store
	FASTREACT_SOAK=1000000 go test -count=1 -timeout 3h -v -run 'TestNoCallLearnsAnythingOfTheCallsBefore' ./host/internal/wasm
	FASTREACT_CHAOS_ROUNDS=$(CHAOS_ROUNDS) FASTREACT_CHAOS_KILLS=$(SOAK_KILLS) $(CHAOS) -run 'TestNothingIsLostAndNothingHappensTwice' ./cmd/fastreact/chaos

peers:
	@say() { if [ -n "$$2" ]; then echo "peer found: $$1"; else echo "peer not found: $$1 (its tests are skipped by name)"; fi; }; \
	for peer in node git clang strace sqlite3 bash jq bc xxd column prometheus mariadbd chromium; do say $$peer "$$(command -v $$peer)"; done; \
	say "npm packages of .ci/peers" "$$(ls -d $${FASTREACT_NODE_MODULES:-.ci/peers/node_modules} 2>/dev/null)"; \
	say PostgreSQL "$$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null)"

check: plugins ## format, vet, staticcheck and the guests' build
	@bad=$$(go tool gofumpt -l cmd examples host plugins policies sdk testdata); if [ -n "$$bad" ]; then echo "not formatted:"; echo "$$bad"; exit 1; fi
	go vet ./...
	go tool staticcheck ./...
	GOOS=wasip1 GOARCH=wasm go vet ./sdk ./sdk/guest ./sdk/wire
	go test ./host/internal/house

bench: plugins ## run the benchmarks that docs/benchmarks.md reports
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count 5 ./host/...
	cd host/bench && go test -run '^$$' -bench . -benchtime 100x . && go test -run '^$$' -bench . -benchtime 1000x -skip Thousand ./durable && go test -run '^$$' -bench Thousand -benchtime 1x -count 3 ./durable

load: plugins ## run 200 streams at once, beside a reader that never reads, many times, and assert the ratio
	FASTREACT_LOAD_ROUNDS=$(LOAD_ROUNDS) go test -count=1 -timeout 15m -v -run TwoHundred ./cmd/fastreact/blackbox

clean: ## remove what was built and the demo's data
	rm -rf bin data .tmp plugins/builtin/dist/*.wasm examples/*/plugin.wasm
