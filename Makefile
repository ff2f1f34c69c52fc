# Two commands do everything on a fresh Debian 12 with Rust:
#   make demo   sets up, builds, and generates tests for a real program
#   make test   sets up and runs every test
.PHONY: setup test

setup:
	@scripts/setup

test: setup
	cargo test --workspace --quiet
