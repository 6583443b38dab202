from pathlib import Path
import sys
from benchmarks.results.trials import complete
from benchmarks.results.__main__ import write
n=sys.argv[1]
f=complete(n,Path('../shared/data'),2,Path(f'out/results/{n}.jsonl'))
write(f,Path(f'docs/results/data/{n}.csv')); print(f.shape)
