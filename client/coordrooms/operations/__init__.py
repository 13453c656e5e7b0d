"""What can be asked of the daemon, each call written once: its path, its fields, its answer.

Where a function takes `room` first, it is a method of `Room` and `AsyncRoom` under the same name;
the others are methods of `Client` and `AsyncClient`.
"""
