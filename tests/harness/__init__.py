"""What the tests stand on: a machine per test, TAP, and the report of a failure."""
