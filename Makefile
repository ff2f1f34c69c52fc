# Two commands do everything on a fresh Debian 12 with Rust:
#   make demo   sets up, builds, and generates tests for a function of a real library
#   make test   sets up and runs every test, the slow ones too
# Besides, while working:
#   make quick  runs the unit tests and the rules of the house
.PHONY: setup build demo quick test

# What `make demo` tests: the static function with which Lua decodes a character of UTF-8.
DEMO_LIBRARY  = lua
DEMO_FILE     = lutf8lib.c
DEMO_FUNCTION = utf8_decode
DEMO_FLAGS    = -DLUA_USE_POSIX
DEMO_CRITERIA = dc,cc,mcc,gacc,wm

setup:
	@scripts/setup

build: setup
	cargo build --release

demo: build
	scripts/real-c $(DEMO_LIBRARY)
	target/release/lydian gen target/real-c/$(DEMO_LIBRARY)/$(DEMO_FILE) --function $(DEMO_FUNCTION) \
	    --criteria $(DEMO_CRITERIA) -o target/demo -- $(DEMO_FLAGS)
	@echo "The tests are in target/demo."

quick:
	cargo test --workspace --lib --test tidy --quiet

test: setup
	scripts/report-tools target/report-tools
	cargo test --workspace --quiet
