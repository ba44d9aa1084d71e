"""The command line: parses arguments and calls. Each command imports what it needs when it runs."""
