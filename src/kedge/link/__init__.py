"""From two networks and anchors to linked accounts."""
