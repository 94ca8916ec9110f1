"""The library: a few async functions and their models; holds no logic. Provisional until 1.0."""
