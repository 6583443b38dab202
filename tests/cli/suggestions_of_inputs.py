"""Suggestions of messages about logs, lists of nodes, clusters, profiles and measurements."""

from tests.cli.suggestion_files import Suggestion

TWICE = "--columns submit_s=When,submit_s=Cards,gpus=Cards,duration_s=Seconds"
ALL = "submit_s=When,gpus=Cards,duration_s=Seconds"

OF_INPUTS = [
    Suggestion(
        "--gpu-type {}: unknown type ({})",
        "cluster import nodes.csv -o c.yaml --gpu-type tesla=h10",
        "mean '([^']+)'",
        ("cluster import nodes.csv -o c.yaml --gpu-type tesla={0}",),
    ),
    Suggestion("--gpu-type {}", "cluster import nodes.csv -o c.yaml", "with (--gpu-type [^ ]+)", ("{again} {0}",)),
    Suggestion("--gpu-type {}", "cluster import untyped.csv -o c.yaml", "with (--gpu-type [^ ;]+)", ("{again} {0}",)),
    Suggestion(
        "give the nodes as well",
        "cluster import topology.conf -o c.yaml",
        "'pointsman (cluster import [^']+)'",
        ("{0}",),
    ),
    Suggestion(
        "give what 'scontrol show node'",
        "cluster import broken.py -o c.yaml",
        "begins with (name,gpus)",
        ("cluster import untyped.csv -o c.yaml --gpu-type a100",),
    ),
    Suggestion(
        "{}: exists already (choose another name, or --force)",
        "cluster import nodes.txt -o c.yaml\ncluster import nodes.txt -o c.yaml",
        "(--force)",
        ("{again} {0}",),
    ),
    Suggestion(
        "is not COLUMN=VALUE (as in",
        "trace info typed.csv --only =",
        r"or a status \((\w+)\)",
        ("trace info openb_jobs.csv --only {0}",),
    ),
    Suggestion(
        "a native file has a header",
        "compare table.csv --cluster 1x4 --policy fifo",
        "`pointsman (trace formats)`.*(--columns) submit_s=…,gpus=…,duration_s=…",
        ("{0}", f"{{again}} {{1}} {ALL}"),
    ),
    Suggestion(
        "--columns {} is not NAME=COLUMN",
        "trace info table.csv --columns x",
        r"as in (\w+)=Submit",
        ("trace info table.csv --columns {0}=When,gpus=Cards,duration_s=Seconds",),
    ),
    Suggestion(
        "is named twice, {} and {}",
        f"trace info table.csv {TWICE}",
        "(named) twice",
        (f"trace info table.csv --columns {ALL}",),
    ),
    Suggestion(
        "is no column of ours",
        f"trace info table.csv --columns {ALL},quue=When",
        "mean '([a-z]+)'.*(--keep-columns quue=When)",
        (f"trace info table.csv --columns {ALL},{{0}}=When", f"trace info table.csv --columns {ALL} {{1}}"),
    ),
    Suggestion(
        "--columns names no {}",
        "trace info table.csv --columns submit_s=When",
        "names no ([a-z_]+)",
        (f"trace info table.csv --columns {ALL}",),
    ),
    Suggestion(
        "give it to --cluster",
        "compare openb.csv --cluster 1x4 --policy fifo",
        "(--cluster)",
        ("compare jobs.csv {0} openb.csv --policy fifo",),
    ),
    Suggestion(
        "leave out --enforce-limits",
        "compare jobs.csv --cluster 2x4 --policy fifo --enforce-limits",
        "leave (out)",
        ("compare jobs.csv --cluster 2x4 --policy fifo",),
    ),
    Suggestion(
        "or leave the column {} of the log out",
        "compare parts.csv --cluster parted.yaml --policy fifo",
        r"by (--ignore \w+)",
        ("{again} {0}",),
    ),
    Suggestion(
        "or leave the column {} of the log out",
        "compare typed.csv --cluster 2x4 --policy fifo",
        r"by (--ignore \w+)",
        ("{again} {0}",),
    ),
    Suggestion(
        "use a cluster with the types of the log, like",
        "compare typed.csv --cluster 2x4 --policy fifo",
        "like (--cluster [^,]+),",
        ("compare typed.csv {0} --policy fifo",),
    ),
    Suggestion(
        "make a cluster with the types of the log by",
        "compare strange.csv --cluster 2x4 --policy fifo",
        "'pointsman (cluster suggest [^']+)'",
        ("{0} --force\ncompare strange.csv --cluster file.yaml --policy fifo",),
    ),
    Suggestion(
        "{}, or --oversized drop or clamp",
        "compare wide.csv --cluster 2x4 --policy fifo",
        r"(--oversized) (\w+) or (\w+)",
        ("{again} {0} {1}", "{again} {0} {2}"),
    ),
    Suggestion(
        "{}, or --oversized drop or clamp",
        "compare wide.csv --cluster 2x4/rack=1 --policy lb --set lb.schedulers=2",
        r"(--oversized) (\w+) or (\w+)",
        ("{again} {0} {1}", "{again} {0} {2}"),
    ),
    Suggestion(
        "use a larger cluster, or --oversized clamp",
        "compare wider.csv --cluster 2x4 --policy fifo --oversized drop",
        r"(--oversized \w+)",
        ("compare wider.csv --cluster 2x4 --policy fifo {0}",),
    ),
    Suggestion(
        "use --estimate oracle or lognormal:SIGMA",
        "compare limits.csv --cluster 2x4 --policy srtf --estimate limit",
        "(--estimate) (oracle) or ([a-z]+:SIGMA)",
        tuple(f"compare limits.csv --cluster 2x4 --policy srtf {{0}} {{{i}}}" for i in (1, 2)),
    ),
    Suggestion(
        "use --rate-model rates, or another topology",
        "compare models.csv --cluster bcube:2x1 --policy fifo --rate-model iterations",
        "(--rate-model rates), or another topology, such as ([a-z0-9:-]+)",
        (
            "compare models.csv --cluster bcube:2x1 --policy fifo {0} --oversized drop",
            "compare models.csv --cluster {1} --policy fifo --rate-model iterations",
        ),
    ),
    Suggestion(
        "takes LEVEL=FACTOR",
        "compare jobs.csv --cluster 2x4 --policy fifo --congestion x",
        "like ([a-z]+=4) or ([a-z]+=16)",
        tuple(f"compare jobs.csv --cluster 2x4 --policy fifo --congestion {{{i}}}" for i in (0, 1)),
    ),
    Suggestion(
        "has two factors for one level",
        "compare jobs.csv --cluster 2x4 --policy fifo --congestion rack=4 --congestion rack=5",
        "give each (once)",
        ("compare jobs.csv --cluster 2x4 --policy fifo --congestion rack=4",),
    ),
    Suggestion(
        "--profiles FILE adds one", "profile show ours", "(--profiles) FILE", ("profile show bert {0} ours.yaml",)
    ),
    Suggestion(
        "{}; --profiles FILE describes another",
        "profile fit own_gpu.csv",
        "(--profiles) FILE",
        ("{again} {0} ours.yaml",),
    ),
    Suggestion(
        "or describe the model with --profiles FILE",
        "profile fit own_steps.csv",
        "(--profiles) FILE",
        ("profile fit steps.csv {0} ours.yaml",),
    ),
    Suggestion(
        "{}: use it with --profiles {}",
        "profile fit steps.csv -o fit.yaml",
        r"(--profiles [\w.]+);",
        ("compare models.csv --cluster 2x4/gpu=t4 --policy fifo {0}",),
    ),
    Suggestion(
        "{}: use it with --interference {}",
        "profile pairs pairs.csv -o mine.yaml",
        r"(--interference [\w.]+)",
        ("compare models.csv --cluster 2x4/gpu=t4 --policy sjf-bsbf {0}",),
    ),
    Suggestion(
        "a simulation needs their profiles, too",
        "profile pairs pairs.csv",
        "(--profiles) FILE",
        ("{again} {0} ours.yaml",),
    ),
    Suggestion(
        "and there is no FILE (profile pairs FILE -o OUT)",
        "profile pairs -o out2.yaml",
        r"\((profile pairs) FILE (-o OUT)\)",
        ("{0} pairs.csv {1}",),
    ),
    Suggestion(
        "or a file of 'profile pairs -o'",
        "compare models.csv --cluster 2x4 --policy sjf-bsbf --interference none2",
        "'(profile pairs -o)'",
        ("{0} out3.yaml pairs.csv\ncompare models.csv --cluster 2x4 --policy sjf-bsbf --interference out3.yaml",),
    ),
    Suggestion(
        "unknown GPU type {} ({}; --profiles FILE describes another)",
        "profile pairs own_pairs.csv --profiles ours.yaml -o x.yaml\n"
        "compare models.csv --cluster 2x4 --policy sjf-bsbf --interference x.yaml",
        "(--profiles) FILE",
        ("{again} {0} ours.yaml",),
    ),
]
