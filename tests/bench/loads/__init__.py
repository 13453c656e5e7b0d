"""Load generators: programs in a process of their own, told what to do in one JSON argument.

Each says what it found as lines of JSON on its standard output. Where the one who started it has
something to do in between, the load says so and goes on when a line comes in.
"""
