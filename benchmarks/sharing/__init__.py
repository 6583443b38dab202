"""Jobs that share GPUs: what `benchmarks.results.pages.sharing` runs, says and draws."""
