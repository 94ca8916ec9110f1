"""Rules, one file an area; each exports `RULES`. They don't know each other: what links them is in their RuleInfo."""
