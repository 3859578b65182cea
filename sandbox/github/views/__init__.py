"""Records as GitHub shows them: all that is known; each schema takes its members."""
