# What has to be there besides Swift, as Debian packages.
LIBRARIES = libarchive-dev libcurl4-openssl-dev libsqlite3-dev libzstd-dev nettle-dev zlib1g-dev
TEST_TOOLS = zstd libarchive-tools python3 python3-venv openssl openssh-client faketime tzdata chromium fonts-dejavu-core jq sqlite3 \
	age gnupg par2 strace
DIST_TOOLS = dpkg-dev binutils lintian man-db
FLEET_TOOLS = python3 python3-venv openjdk-17-jre-headless
BENCH_TOOLS = hyperfine zstd jq sqlite3 libarchive-tools python3 python3-venv gcc libplist-dev curl nginx-light

# Paths of this machine do not go into the programs.
RELATIVE = -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=.
SWIFT_BUILD = swift build -c release --static-swift-stdlib $(RELATIVE)
PROGRAMS = pingferry pingferry-upload
PREFIX = /usr/local
DESTDIR =
SECONDS = 60
CHAOS =

.NOTPARALLEL:
.PHONY: help setup build demo test fleet-test lint docs fuzz chaos bench install dist reproducible clean

help:  ## lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

setup:  ## installs the C libraries that are missing
	@.ci/setup $(LIBRARIES)

build:  ## builds the release
	$(foreach program,$(PROGRAMS),$(SWIFT_BUILD) --product $(program) &&) true

demo: setup  ## builds for debugging, which takes less time, and shows the commands at work on the samples
	$(foreach program,$(PROGRAMS),swift build --product $(program) &&) true
	@.ci/demo .build/debug

test:  ## runs the tests and, where the schemas and Mozilla's SDK are at hand, compares with those
	@.ci/setup $(LIBRARIES) $(TEST_TOOLS)
	@.ci/promtool
	@.ci/duckdb
	swift test
	@.ci/schemas
	@.ci/glean
	@.ci/report
	@.ci/recipes

fleet-test: build  ## reads 60 captures on a cluster of two executors, kills one, and compares with one machine
	@.ci/setup $(LIBRARIES) $(FLEET_TOOLS)
	@.ci/fleet-test

lint:  ## checks the style of the sources, and that imports go down only
	@.ci/setup python3
	swift format lint --strict --recursive Sources Tests Package.swift
	@.ci/floors

docs:  ## makes a site of the articles and of all that is public in .build/docs, for any web server
	@.ci/setup $(LIBRARIES)
	@.ci/docs .build/docs

fuzz:  ## runs each fuzzer for SECONDS=60
	@.ci/fuzz $(SECONDS)

chaos: build  ## damages, kills and starves the programs; CHAOS="--scale 0.05" for a quick look
	@.ci/setup $(TEST_TOOLS)
	@.ci/chaos $(CHAOS)

bench: build  ## measures bundling against tar and zstd, the parts alone, tables against DuckDB, then uploading
	@.ci/setup $(BENCH_TOOLS)
	$(SWIFT_BUILD) --product pingferry-bench
	@.ci/bench
	@.ci/bench-tables
	@.ci/bench-speed
	@.ci/bench-upload

install: build  ## builds the release and installs programs, manual and completions below PREFIX=/usr/local, staged in DESTDIR
	$(SWIFT_BUILD) --product generate-manual
	@.ci/install "$(DESTDIR)$(PREFIX)" $(PROGRAMS)

dist: build  ## packs the release in .build/dist: a .tar.gz, and a Debian package for each program
	@.ci/setup $(DIST_TOOLS)
	$(SWIFT_BUILD) --product generate-manual
	@.ci/dist .build/dist $(PROGRAMS)
	@.ci/dist-check .build/dist $(PROGRAMS)

reproducible:  ## builds this commit twice, in two folders, and compares the programs; takes its time
	@.ci/setup $(LIBRARIES) $(DIST_TOOLS)
	@.ci/reproducible $(PROGRAMS)

clean:  ## removes what was built
	rm -rf .build .build-fuzz .venv
