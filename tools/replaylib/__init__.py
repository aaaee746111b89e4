"""What tools/replay is made of: the tables (*.toml), running a job, its figures, the verdicts, the report."""
