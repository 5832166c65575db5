"""From files to matches and back: the only room that names every stage."""
