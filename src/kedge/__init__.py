"""kedge: link the accounts of one person across two networks."""

__version__ = "0.1.0"
