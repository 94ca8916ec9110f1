# Everything is in dev.py, which needs nothing but Python's standard library.
PYTHON ?= python3
.PHONY: demo test check soak fuzz test-cluster bench docs golden lock format
demo test check soak fuzz test-cluster bench docs golden lock format:
	@$(PYTHON) dev.py $@
