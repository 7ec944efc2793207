# The Debian packages that are assumed to be installed: those that Swift requires according to its documentation, git and make.
PREREQUISITES = binutils-gold ca-certificates gcc g++ git libcurl4-openssl-dev libedit-dev libncurses-dev libpython3-dev libsqlite3-dev \
	libxml2-dev make pkg-config tzdata uuid-dev
# The Debian packages that are required in addition.
LIBRARIES = libarchive-dev libcurl4-openssl-dev libsqlite3-dev libzstd-dev nettle-dev zlib1g-dev
STATIC_TOOLS = libbz2-dev liblz4-dev liblzma-dev libarchive-tools python3
TEST_TOOLS = zstd libarchive-tools python3 openssl openssh-client faketime tzdata jq sqlite3 age gnupg par2 strace fish zsh zip xz-utils \
	bzip2 lz4 systemd
# The packages that the checks against other programs require in addition to those of the tests.
CHECK_TOOLS = apt python3-venv chromium fonts-dejavu-core
DIST_TOOLS = apt-utils dpkg-dev binutils ca-certificates gnupg jq lintian man-db mandoc openssh-client openssl python3 python3-venv \
	python3-wheel rpm runc skopeo sqlite3 systemd umoci
GROWTH_TOOLS = python3 valgrind
FLEET_TOOLS = python3 python3-venv python3-wheel openjdk-17-jre-headless xz-utils
BARE_TOOLS = debootstrap iproute2
INSTALL_TOOLS = debootstrap gnupg rpm skopeo umoci
BENCH_TOOLS = zstd jq sqlite3 libarchive-tools python3 python3-venv gcc g++ libplist-dev libsimdjson-dev curl nginx-light xz-utils

# Installs the packages $(1), and runs the command that follows, which finds no other programs than theirs.
with = .ci/setup $(1) && .ci/declared $(PREREQUISITES) $(1) --

# Source paths in the programs are relative, so that builds in different folders are identical.
RELATIVE = -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=.
# Libraries in the folder of the program are not loaded, and the tables of the dynamic linker are read-only after startup.
HARDENED = --disable-local-rpath -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now -Xcc -fstack-protector-strong
# Each function has its own section, so that the linker removes the functions that are not called.
SECTIONS = -Xswiftc -Xfrontend -Xswiftc -function-sections
SWIFT_BUILD = swift build -c release --static-swift-stdlib $(RELATIVE) $(HARDENED) $(SECTIONS)
PROGRAMS = pingferry pingferry-upload
# The commit that --version states; empty outside of a repository.
export PINGFERRY_COMMIT := $(shell git describe --always --abbrev=12 --exclude='*' --dirty 2> /dev/null)
# The version of the latest tag, or empty, so that the default in Package.swift is used.
export PINGFERRY_VERSION := $(or $(PINGFERRY_VERSION),$(shell git describe --tags --abbrev=0 --match='v[0-9]*' 2> /dev/null | sed 's/^v//'))
# The version of Swift that --version --json states.
export PINGFERRY_SWIFT := $(or $(PINGFERRY_SWIFT),$(shell swift --version 2> /dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p'))
# The address of the source code, which the files of a release state. If it is empty, they state the name of the source archive.
export SOURCE_URL ?=
PREFIX = /usr/local
DESTDIR =
SECONDS = 60
RUNS = 20
FILTER =
CHAOS =
CHANGES = 1000
DIST = .build/dist
SIGNERS =
SUITES = bookworm trixie
CHECKS = bare-check install-check fuzz chaos stress-test reproducible evidence growth bench compatibility

.NOTPARALLEL:
.PHONY: help setup build static demo test check bare-check install-check stress-test fleet-test lint docs fuzz chaos evidence growth \
	compatibility bench install dist dist-files dist-verify reproducible release-check clean

help:  ## prints this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile
	@echo "Targets print the packages that they install. With PINGFERRY_NO_INSTALL=1, they only print those that are missing."

setup:  ## installs missing C libraries
	@.ci/setup $(LIBRARIES)

build:  ## builds the release programs
	$(foreach program,$(PROGRAMS),$(SWIFT_BUILD) --product $(program) -Xlinker -Map=$(CURDIR)/.build/$(program).map &&) true

static: build  ## links pingferry as one file for any Linux on this architecture, and checks it in an empty root folder
	@.ci/setup $(STATIC_TOOLS)
	@.ci/static .build/static
	@.ci/static-check .build/static/pingferry .build/release/pingferry

demo: setup  ## builds debug programs, which takes less time, and runs them on the samples
	PINGFERRY_ONLY_PROGRAMS=1 swift build
	@.ci/demo .build/debug

test:  ## builds and runs the tests, and lists those that were skipped; installs nothing but Debian packages
	@$(call with,$(LIBRARIES) $(TEST_TOOLS)) Tests/run

check:  ## compares the programs with Chromium, pyarrow, DuckDB, Mozilla's Glean SDK and others, which it installs
	@$(call with,$(LIBRARIES) $(TEST_TOOLS) $(CHECK_TOOLS)) Tests/check

bare-check:  ## runs "make demo" and "make test" on new systems of SUITES="bookworm trixie", as root and as a user, and "make check" as root
	@.ci/setup $(BARE_TOOLS)
	@failed=0; for suite in $(SUITES); do .ci/bare-check $$suite $(PREREQUISITES) || failed=1; done; exit $$failed

install-check: dist-files  ## installs the files of a release on new systems of SUITES="bookworm trixie", without a network, and prints a table
	@.ci/setup $(INSTALL_TOOLS)
	@.ci/install-check $(SUITES)

stress-test:  ## runs the tests RUNS=20 times while other processes load all cores; FILTER=REGEX selects tests
	@$(call with,$(LIBRARIES) $(TEST_TOOLS)) Tests/stress $(RUNS) $(if $(FILTER),'$(FILTER)')

fleet-test: static  ## reads Parquet files with Spark, and tests the Python wheel and samples/spark on a cluster that loses an executor
	@$(call with,$(LIBRARIES) $(STATIC_TOOLS) $(FLEET_TOOLS)) Tests/Spark/fleet-test

lint:  ## checks the format of the sources, the dependencies between modules, and the keys of tables
	@.ci/setup python3
	swift format lint --strict --recursive Sources Tests Package.swift
	@.ci/comments
	@.ci/layers
	@.ci/keys

docs:  ## builds the documentation as a static website in .build/docs
	@.ci/setup $(LIBRARIES)
	@.ci/docs .build/docs

fuzz:  ## runs each fuzzer for SECONDS=60 seconds, and prints a table of the results
	@.ci/fuzz $(SECONDS)

chaos: build  ## tests the programs with injected faults; CHAOS="--scale 0.05" runs fewer cases
	@$(call with,$(TEST_TOOLS)) Tests/Chaos/chaos $(CHAOS)

evidence: build  ## makes CHANGES=1000 changes in a chain of evidence, and as many damages that repair blocks must repair
	@$(call with,$(TEST_TOOLS)) Tests/Oracles/evidence --changes $(CHANGES) .build/release/pingferry
	@$(call with,$(TEST_TOOLS)) Tests/Oracles/repair --damages $(CHANGES) .build/release/pingferry

growth: build  ## counts the instructions for inputs of n, 2n and 4n repeated structures, which must not grow faster than the input
	@$(call with,$(GROWTH_TOOLS)) Tests/Oracles/growth

compatibility: build  ## reads the files of every released version, and compares the results with those of that version
	@$(call with,$(TEST_TOOLS)) Tests/Oracles/compatibility .build/release/pingferry

bench: build  ## compares parsing, conversion, bundling and uploading with other programs
	@.ci/setup $(BENCH_TOOLS)
	$(SWIFT_BUILD) --product pingferry-bench
	@Tests/Bench/bench

install: build  ## installs the programs, manual pages and completions in DESTDIR and PREFIX=/usr/local
	$(SWIFT_BUILD) --product generate-manual
	@.ci/install "$(DESTDIR)$(PREFIX)" $(PROGRAMS)

dist: dist-files  ## creates the files of a release in .build/dist, and checks them; SOURCE_URL=URL is the address of the source code
	@.ci/dist-check .build/dist $(PROGRAMS)

dist-files: build static
	@.ci/setup $(DIST_TOOLS)
	$(SWIFT_BUILD) --product generate-manual
	@.ci/dist .build/dist $(PROGRAMS)

dist-verify:  ## checks the signed release in the folder DIST=.build/dist; SIGNERS=FILE lists the accepted signers
	@.ci/dist-verify '$(DIST)' '$(SIGNERS)'

reproducible:  ## builds this commit in two folders and checks that the files of the release are identical
	@.ci/setup $(LIBRARIES) $(DIST_TOOLS)
	@.ci/reproducible $(PROGRAMS)

release-check:  ## runs the checks that .ci/run omits, and prints a table; CHECKS="fuzz chaos" selects some
	@.ci/release-check $(CHECKS)

clean:  ## removes build products and the Python environment
	rm -rf .build .build-fuzz .venv
