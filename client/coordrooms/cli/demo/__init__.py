"""Two agents that argue a decision: what `coordrooms demo` shows and checks."""
