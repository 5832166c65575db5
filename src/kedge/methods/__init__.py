"""Methods: problem, config, seed -> alignment."""
