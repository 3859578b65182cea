"""A GitHub on this machine and what is played on it."""
