# Targets with a ## comment are shown by `make`. Only `make run` and `make test` are needed to try and to check leveret.

GO          ?= go
FUZZTIME    ?= 5s
CHECKFUZZTIME ?= 2s
BENCH       ?= .
BENCHCOUNT  ?= 5
BENCHTIME   ?= 1s
PACKAGES    ?= ./...
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# What moves messages between goroutines; the race detector makes it some ten times slower. Tests with nodes of RabbitMQ do
# nothing more with it than those with the embedded broker do.
RACE_PACKAGES := ./loadcore ./loadcore/broker ./capture/...

.DEFAULT_GOAL := help
.PHONY: help build run test test-long race fuzz bench lint rules check rabbitmq rabbitmq4 clean

help:
	@echo "make TARGET, TARGET one of"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the static program bin/leveret
	@CGO_ENABLED=0 $(GO) build -trimpath -o bin/leveret ./cmd/leveret

# The URI has a password: it reaches the program by the environment of the shell and is not echoed.
run: export LEVERET_RUN_URI = $(URI)
run: build ## record ten seconds of load, analyze it, draw charts (URI=amqp://user:pass@host/vhost: through that broker)
	@capture=captures/make-run-$$(date +%Y%m%d-%H%M%S); \
	bin/leveret run $${LEVERET_RUN_URI:+--uri "$$LEVERET_RUN_URI"} --time 10 --confirm 1000 \
		--capture $$capture --charts $$capture-charts

test: ## run all tests, with a real RabbitMQ (installs it where it can)
	@.ci/need rabbitmq npm chromium
	$(GO) test -count=1 -timeout 12m -p 4 -parallel 6 $(PACKAGES)

test-long: ## run all tests and those that take longer (build tag long)
	@.ci/need rabbitmq npm chromium
	@.ci/rabbitmq4 bin/rabbitmq4
	$(GO) test -count=1 -tags long -timeout 90m $(PACKAGES)

race: ## run the tests of engine, broker and capture with the race detector
	@.ci/need rabbitmq npm
	$(GO) test -count=1 -race -timeout 9m -p 3 -skip 'RabbitMQ|Cluster|EveryKindOfMessage|JavaScript' $(RACE_PACKAGES)

fuzz: ## run each fuzz target for FUZZTIME (5s)
	@nice -n 19 .ci/fuzz $(FUZZTIME)

bench: ## run the benchmarks in rounds and print a table (BENCH=regexp BENCHCOUNT=5 BENCHTIME=1s PACKAGES=./...)
	@.ci/need rabbitmq npm
	$(GO) run ./cmd/internal/bench -bench '$(BENCH)' -count $(BENCHCOUNT) -benchtime $(BENCHTIME) $(PACKAGES)

lint: ## check formatting, go.mod, vet and staticcheck
	@unformatted=$$(gofmt -l cmd loadcore capture analyze reports); \
	if [ -n "$$unformatted" ]; then echo "gofmt -w would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) vet -tags long ./...
	$(GO) run $(STATICCHECK) ./...

rules: ## check the project's rules: imports, top level, texts, that it compiles on other systems
	$(GO) test -count=1 ./cmd/internal/rules

# The stages stand in the order of their cost. `make run` and `make test` are what the README tells a newcomer to type. The
# last two run side by side: the tests under the race detector wait for much of their time.
check: ## run everything that a change must pass: lint, rules, run, test, race, fuzz
	@set -e; for stage in lint rules run test "race fuzz"; do \
		echo "==== make $$stage"; start=$$(date +%s); \
		$(MAKE) --no-print-directory -j2 --output-sync=target $$stage FUZZTIME=$(CHECKFUZZTIME); \
		echo "==== make $$stage took $$(($$(date +%s) - start)) s"; \
	done
	@if [ "$$CI" = true ] && [ -n "$$(git status --porcelain)" ]; then \
		echo "the checks left files behind:"; git status --short; exit 1; fi

rabbitmq4: ## lay RabbitMQ 4 of Debian 13 into bin/rabbitmq4, for make test-long and make rabbitmq NODE=-4
	@.ci/rabbitmq4 bin/rabbitmq4

rabbitmq: ## run a private RabbitMQ in the foreground until Ctrl-C (NODE='-tls -port 5672', NODE=-4)
	@.ci/need rabbitmq
	@$(GO) build -o bin/rabbitmq-node ./loadcore/rabbitmqtest/node && exec bin/rabbitmq-node $(NODE)

clean: ## remove what was built, and what make run recorded
	rm -rf bin captures/make-run-*
