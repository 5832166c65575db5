"""MGCN's embedding of one network: multi-level convolution (Eq. 1-9) and its objective (Eq. 10)."""

from kedge.mgcn.train import PHASES, Embedding, embed
