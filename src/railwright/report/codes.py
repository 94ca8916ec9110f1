CODES: dict[str, str] = {}
