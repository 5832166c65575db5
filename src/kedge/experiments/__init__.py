"""Methods compared, and the paper's experiments run: cells in processes of their own, saved as files, then averaged."""
