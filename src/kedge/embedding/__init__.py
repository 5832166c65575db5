"""Vectors of networks of any size: whole where one part is enough, else trained by parts and reconciled (Eq. 12)."""
