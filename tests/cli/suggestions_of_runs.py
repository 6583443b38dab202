"""Suggestions of messages about policies, options of runs, results and reports."""

from tests.cli.suggestion_files import Suggestion

FIFO = "compare jobs.csv --cluster 2x4 --policy fifo"
CAPACITY = "capacity jobs.csv --cluster 2x4 --policy fifo"
MADE = "compare models.csv --cluster 2x4 --policy fifo --policy sjf -o made"

OF_RUNS = [
    Suggestion(
        "is about this computer", f"{CAPACITY} --target engine_s<=1", "'(pend[^']+)'", (f"{CAPACITY} --target {{0}}",)
    ),
    Suggestion(
        "is a change to a baseline",
        f"{CAPACITY} --target jct_mean_s<=+5%",
        "'(pend[^']+)'",
        (f"{CAPACITY} --target {{0}}",),
    ),
    Suggestion(
        "more nodes lower this metric",
        f"{CAPACITY} --target gpu_allocated_ratio>=0.5",
        "'(pend[^']+)'",
        (f"{CAPACITY} --target {{0}}",),
    ),
    Suggestion(
        "capacity requires that every job fits", f"{CAPACITY} --oversized drop", "leave the (option) out", (CAPACITY,)
    ),
    Suggestion(
        "to see how well this cluster model fits",
        "compare started.csv --cluster 2x4 --policy fifo",
        "add (--policy [a-z]+)",
        ("{again} {0}",),
    ),
    Suggestion(
        "'pointsman compare' shows more",
        "simulate started.csv --cluster 2x4 --policy fifo",
        "'pointsman ([a-z]+)'",
        ("{0} started.csv --cluster 2x4 --policy fifo",),
    ),
    Suggestion(
        "for several use 'pointsman compare'",
        "simulate jobs.csv --cluster 2x4 --policy all",
        "'pointsman ([a-z]+)'",
        ("{0} jobs.csv --cluster 2x4 --policy fifo --policy sjf",),
    ),
    Suggestion(
        "'pointsman compare' takes several", "simulate -c grid.yaml", "'pointsman ([a-z]+)'", ("{0} -c grid.yaml",)
    ),
    Suggestion(
        "takes NAME.PARAM=VALUE",
        "compare jobs.csv --cluster 2x4 --policy srtf --set x",
        "like ([^ ,]+),",
        ("compare jobs.csv --cluster 2x4 --policy srtf --set {0}",),
    ),
    Suggestion(
        "is given twice: leave one out",
        f"{FIFO} --set overheads.start_s=3 --set overheads.start_s=4",
        "leave (one) out",
        (f"{FIFO} --set overheads.start_s=3",),
    ),
    Suggestion(
        "--set: there is no {} in this experiment",
        "compare jobs.csv --cluster 2x4 --policy srtf --set srft.margin_s=1",
        "mean '([^']+)'",
        ("compare jobs.csv --cluster 2x4 --policy srtf --set {0}.margin_s=1",),
    ),
    Suggestion("--cluster, where to replay it", "compare jobs.csv --policy fifo", "(--cluster)", ("{again} {0} 2x4",)),
    Suggestion(
        "name one of its runs with --run",
        f"{MADE}\nexplain j1 --run made --at 100",
        r"(--run) \(([^,)]+)",
        ("explain j1 {0} {1} --at 100",),
    ),
    Suggestion(
        "is before the first submit",
        "simulate late.csv --cluster 2x4 --policy fifo -o made\nexplain b --run made --at 60",
        r"(--at \+[0-9]+)",
        ("explain b --run made {0}",),
    ),
    Suggestion(
        "read it by --columns submit_s=NAME",
        "compare short.csv --cluster 2x4 --policy fifo",
        r"(--columns) submit_s=NAME,gpus=NAME,duration_s=NAME with (--time-unit) (ms), (min) or (h)",
        tuple(f"{{again}} {{0}} submit_s=submit_s,gpus=gpus,duration_s=duration_s {{1}} {{{i}}}" for i in (2, 3, 4)),
    ),
    Suggestion(
        "say --time-unit ms, min or h",
        "compare short_tiresias.csv --cluster 2x4 --policy fifo",
        "(--time-unit) (ms), (min) or (h)",
        tuple(f"{{again}} {{0}} {{{i}}}" for i in (1, 2, 3)),
    ),
    Suggestion(
        "; no job names a model, and --assign-models 0",
        "compare jobs.csv --cluster 2x4 --policy dally --policy dally-nowait",
        "(--assign-models 0)",
        ("{again} {0}",),
    ),
    Suggestion(
        "takes it with --set {}.predictor=estimate",
        "compare jobs.csv --cluster 2x4 --policy gittins --estimate lognormal:1",
        r"(--set [\w.-]+=estimate)",
        ("{again} {0}",),
    ),
    Suggestion(
        "--set gittins.{}=0",
        "compare jobs.csv --cluster 2x4 --policy gittins",
        r"(--set gittins.\w+=0) (--set gittins.\w+=0) (--set gittins.\w+=0)",
        ("{again} {0} {1} {2}",),
    ),
    Suggestion(
        "--load 0.9 submits them closer together",
        "compare light.csv --cluster 2x4 --policy fifo",
        "(--load 0.9)",
        ("{again} {0}",),
    ),
    Suggestion("--profile-error has no effect", f"{FIFO} --profile-error 0.5", "(--assign-models 0)", ("{again} {0}",)),
    Suggestion(
        "leave the option or the policy out",
        "compare models.csv --cluster 2x4 --policy fifo --policy lwf --profile-error 0.5",
        "leave the (option)",
        ("compare models.csv --cluster 2x4 --policy fifo --policy lwf",),
    ),
    Suggestion(
        "no job names a model, so none shares a GPU",
        f"{FIFO} --gpu-sharing 2",
        "(--assign-models SEED)",
        ("{again} {0}",),
    ),
    Suggestion(
        "no job names a model, so none slows another",
        f"{FIFO} --node-interference table",
        "(--assign-models SEED)",
        ("{again} {0}",),
    ),
    Suggestion(
        "models: a column of the log, or --assign-models SEED",
        f"{FIFO} --log-speeds -o made\nprofile interference made",
        "(--assign-models SEED)",
        (f"{FIFO} {{0}} --log-speeds -o new\nprofile interference new",),
    ),
    Suggestion(
        "run again with --log-speeds",
        f"{FIFO} --assign-models 0 -o made\nprofile interference made",
        "(--log-speeds)",
        (f"{FIFO} --assign-models 0 {{0}} -o new\nprofile interference new",),
    ),
    Suggestion(
        "{}: use it with --node-interference {}",
        f"{FIFO} --assign-models 0 --log-speeds -o made\nprofile interference made -o learnt.yaml",
        r"(--node-interference [\w.]+)",
        (f"{FIFO} --assign-models 0 {{0}}",),
    ),
    Suggestion(
        "--estimate overrides this",
        "policy show easy",
        "(--estimate)",
        ("compare jobs.csv --cluster 2x4 --policy easy {0} oracle",),
    ),
    Suggestion(
        "true durations; --estimate limit or lognormal:SIGMA",
        "policy show srtf",
        "(--estimate) (limit) or ([a-z]+:SIGMA)",
        tuple(f"compare all_limits.csv --cluster 2x4 --policy srtf {{0}} {{{i}}}" for i in (1, 2)),
    ),
    Suggestion("'pointsman policy new' creates one", "policy list", "'pointsman (policy new)'", ("{0} mine",)),
    Suggestion("run it with: pointsman simulate TRACE", "policy new mine", "pointsman (simulate .*)", ("{0}",)),
    Suggestion(
        "unless --profile-error SIGMA says otherwise",
        "policy list",
        "(--profile-error SIGMA)",
        ("compare models.csv --cluster 2x4 --policy dally {0}",),
    ),
    Suggestion(
        "Set one with --set {}.{}=VALUE.",
        "policy show srtf",
        r"(--set [\w.]+=VALUE)",
        ("compare jobs.csv --cluster 2x4 --policy srtf {0}",),
    ),
    Suggestion(
        "Parameters are those of POLICY",
        "policy show rounds",
        r"(--policy '[^']+' --set [\w.]+=[0-9]+)",
        ("compare jobs.csv --cluster 2x4 {0}",),
    ),
    Suggestion(
        "needs its parameter {}; give --set",
        "compare jobs.csv --cluster 2x4 --policy asks.py:Own",
        r"(--set [\w.]+=VALUE)",
        ("{again} {0}",),
    ),
    Suggestion("{}{}{} (see '{} --help')", "compare jobs.csv --colour", "'pointsman ([a-z]+ --help)'", ("{0}",)),
    Suggestion("name a command (see '{} --help')", "", "'pointsman (--help)'", ("{0}",)),
    Suggestion(
        "compare, with several --cluster",
        "grid",
        "'pointsman (compare), with several (--cluster), (--load), (--estimate) or (--seed)",
        (
            "{0} jobs.csv --policy srtf {1} 2x4 {1} 3x4",
            "{0} jobs.csv --policy srtf --cluster 2x4 {2} 0.5 {2} 0.9",
            "{0} jobs.csv --policy srtf --cluster 2x4 {3} oracle {3} lognormal:1",
            "{0} jobs.csv --policy fifo --cluster 2x4 {4} 0 {4} 1",
        ),
    ),
    Suggestion(
        "report --figures DIR",
        f"{FIFO} -o made\nfigures",
        "'pointsman (report --figures DIR)'",
        ("{0} made --format svg",),
    ),
    Suggestion(
        "choose another directory with -o, or replace it with --force",
        f"{FIFO} -o made\n{FIFO} -o made",
        "with (-o), .* (--force)",
        (f"{FIFO} {{0}} other", "{again} {1}"),
    ),
    Suggestion(
        "choose a separate directory for figures",
        f"{FIFO} -o made\nreport made --figures made",
        "(--figures)",
        ("report made {0} apart --format svg",),
    ),
    Suggestion(
        "--timeline draws one run: give one of these {}",
        f"{FIFO} -o made\nreport made/runs/fifo_s0 made/runs/fifo_s0 --timeline t.json",
        r"such as (\S+)",
        ("report {0} --timeline t.json",),
    ),
    Suggestion(
        "--timeline draws one run: name one in {}",
        f"{FIFO} -o made\nreport made --timeline t.json",
        r"(--timeline) .* such as (\S+)",
        ("report {1} {0} t.json",),
    ),
    Suggestion(
        "a comparison without its runs; name the directory of a run",
        f"{FIFO} -o made\nreport made -o bare\nreport bare --timeline t.json",
        "(--timeline)",
        ("report made/runs/fifo_s0 {0} t.json",),
    ),
    Suggestion(
        "kept no events, which a timeline requires",
        f"{FIFO} --no-log -o made\nreport made/runs/fifo_s0 --timeline t.json",
        "without (--no-log)",
        (f"{FIFO} -o again", "report made/runs/fifo_s0"),
    ),
    Suggestion(
        "-o {} contains {}, one of the reported runs",
        f"{FIFO} -o made\nreport made/runs/fifo -o made --force",
        "(-o)",
        ("report made {0} page",),
    ),
    Suggestion(
        "--format {}: it is one of {}",
        f"{FIFO} -o made\nreport made --format x",
        r"one of (\w+), (\w+), (\w+), (\w+), (\w+), or with (--figures)",
        (
            "report made --format {0}",
            "report made --format {1}",
            "report made --format {2}",
            "report made --format {3}",
            "report made --format {4}",
            "report made {5} pics --format svg",
        ),
    ),
    Suggestion(
        "--format {}: figures are {}",
        f"{FIFO} -o made\nreport made --figures pics --format x",
        r"figures are (\w+), (\w+)",
        ("report made --figures pics --format {0}", "report made --figures pics --format {1}"),
    ),
    Suggestion(
        "write it like 3.3in or 84mm",
        f"{FIFO} -o made\nreport made --figures pics --width 1",
        r"like ([\w.]+) or (\w+)",
        ("report made --figures pics --format svg --width {0}", "report made --figures pics --format svg --width {1}"),
    ),
    Suggestion(
        "{}: {}: {} (--debug shows where)",
        "compare jobs.csv --cluster 2x4 --policy broken.py:Own",
        r"\((--debug)",
        ("{again} {0}",),
    ),
    Suggestion("--on {}: there are local, ray", f"{FIFO} --on x", "there are (local)", (f"{FIFO} --on {{0}}",)),
    Suggestion(
        "--only {}: write {}",
        "suite run --only x --dry-run",
        r"write (\w+)=VALUE or",
        ("suite run --only {0}=philly --dry-run",),
    ),
    Suggestion(
        "--only {}={}: the suite has {}",
        "suite run --only workload=x --dry-run",
        r"has (\w+)",
        ("suite run --only workload={0} --dry-run",),
    ),
    Suggestion("as in -o mine", "train scorer", "(-o mine)", ("{again} {0} --dry-run",)),
    Suggestion("as in --steps 100000", "train topdrl -o agent", "(--steps [0-9]+)", ("{again} {0} --dry-run",)),
]
