"""Methods compared and the paper's experiments run: cells in their own processes, kept as files, summed up."""
