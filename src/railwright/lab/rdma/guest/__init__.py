"""What runs inside the machine; standard library, `core` and `dataplane` only, because nothing else is there."""
