"""What several methods of the literature share."""
