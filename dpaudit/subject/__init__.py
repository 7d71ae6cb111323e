"""What a claim is about, by name or as an object: found, built, and judged by every check."""
