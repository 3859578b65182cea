"""For agents that run elsewhere: other people's loops, and ours, before a Placet server."""
