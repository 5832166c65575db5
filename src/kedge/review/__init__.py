"""The review app: an analyst decides uncertain pairs in the browser, on this machine and without internet."""
