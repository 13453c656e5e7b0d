"""The private durable inbox of one participant: filled by a listener, answered from by `reply`.

`stores` is the file, `listeners` fills it, `replies` answers, `acknowledgements` brings it up to
date. What talks to the daemon is a program (see `coordrooms.calls`): it may be ended between any
two of its steps, and run again from the start it comes to the same state.
"""
