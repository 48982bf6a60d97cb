"""What every part may use: the standard library and nothing else is imported here."""
