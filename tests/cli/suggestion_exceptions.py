"""Messages that the table of suggestions leaves out, and why."""

NO_COMMAND = {
    "--target {}: {}": "the option that is wrong",
    "--baseline {}: the log has no start times": "the option that is wrong",
    "--baseline {}": "the option that is wrong",
    "--fail-if was not checked": "the option that had no effect",
    "{} (--debug shows where)": "how to see where a figure failed",
    "such as 801.batch, in tables read with --columns": "the help of an option",
    "--fail-if {} compares with the baseline": "the option that is wrong",
    "--set {}.…: here only {}.PARAM can be set": "the option that is wrong",
    "--set {}.…: {} has no part": "the option that is wrong",
    "--set {}": "where a value is from",
    "--seeds {} names {} seeds": "the option that is wrong",
    "--at: {}": "the option that is wrong",
    "--window: {}": "the option that is wrong",
    "--estimate {} has no effect": "the option that is wrong",
    "which --estimate none does not provide": "the option that is wrong",
    "--load needs jobs with work": "the option that is wrong",
    "--device {}: {}": "the option that is wrong",
    "is no network: leave out --device and --threads": "the options that are wrong",
    "(make the run with 'pointsman simulate -o')": "what made a file",
    "so --force does not replace it": "an option that does not help",
    "this is a comparison without its runs": "where a run is, which only the reader knows",
    "so its files were removed": "a full disk",
    "out of memory": "a full memory",
    "this is a bug in Pointsman": "a fault of ours",
    "the trace format {} failed": "a fault of a plug-in",
    "hourly ones: also --set overheads.checkpoint_every_s=1h": "the help of an option",
    "# Options": "a page",
    "Unit of times in Tiresias job lists": "the help of an option",
    "a file of 'pointsman profile pairs'": "the help of an option",
    "or from a file of 'pointsman profile interference'": "the help of an option",
    "so there are no profiles for --profile-error": "the option that has no effect",
    "listed by 'pointsman": "the help of an option",
    "the run's --estimate, or nothing": "the help of a parameter",
    "as --node-interference takes it": "the help of a parameter",
    "As of 'pointsman simulate'.": "the help of a parameter",
    "a checkpoint is what 'pointsman train -o DIR' wrote": "what made a file",
    "give the directory that 'pointsman compare' wrote": "what made a file",
    "'pointsman simulate --policy metarl -o DIR', or none": "what made a file",
}
"""They name an option or a command and suggest none."""

ELSEWHERE = {
    "use --format csv": ("cli/test_simulate.py", '"--format", "csv"'),
    "pointsman warmup": ("cli/test_doctor.py", 'command("warmup")'),
    "train anew, without --resume": ("cli/test_training_directory.py", '"--steps", "30", "-o", "mine", "--force"'),
    "--resume goes on": ("cli/test_training_directory.py", 'command(*again, "--resume")'),
    "go on with it by --resume": ("cli/test_training_directory.py", '"-o", "mine", "--seed", "7", "--force"'),
    "go on with it by --force --resume": ("cli/test_training_directory.py", 'command(*again, "--resume")'),
    "leave out --resume to begin one": ("cli/test_training_directory.py", 'command(*TRAIN, "--steps", "30"'),
    "or --resume to begin anew": ("cli/test_training_directory.py", 'command(*TRAIN, "--steps", "30"'),
    "add --force to go on with the one in": ("cli/test_training_directory.py", '"mine", "--resume", "--force"'),
    "the same command with --resume goes on": ("cli/test_training_directory.py", 'command(*again, "--resume")'),
    "generations: give --set": ("cli/test_train_scorer.py", "cross-entropy.generations="),
    "runs: give --set": ("cli/test_train_metarl.py", "meta.runs="),
    "is trained by {}, not --steps": ("cli/test_train_metarl.py", "meta.runs="),
    "(use it with --policy {}:{})": ("cli/test_training_directory.py", "use it with --policy"),
    "use it as --policy {}:{}": ("learn/test_learned_policies.py", "use it as --policy"),
    "give those you trained, --policy {}:DIR": ("cli/test_train.py", "topdrl:out/agent"),
    "go on with it by 'pointsman train": (
        "cli/test_train_scorer.py",
        'command("train", "scorer", "-o", "mine", "--resume")',
    ),
    "jobs of this run have shapes to keep": ("engine/run/test_what_if.py", "run it with --ignore shape"),
    "run it with --rate-model {}": ("engine/run/test_what_if.py", "rate_model="),
    "run it with --gpu-sharing": ("engine/run/test_what_if.py", "run it with --gpu-sharing 2"),
    "leave out --log-speeds": ("engine/run/test_kept_log.py", "log_speeds=True"),
    "leave their log out (--no-log": ("engine/run/test_kept_log.py", "log=False"),
    "run again with --rate-model rates": ("cli/test_profile_interference.py", "rate_model"),
    "--on ray": ("parallel/test_ray.py", '"--on", "ray"'),
    "give --window, or run again": ("cli/test_grid.py", '"report", "grid", "--window"'),
}
"""They take a training, a cluster of Ray, a terminal or a damaged file; these tests run what they suggest."""

UNREACHED = {
    "takes all that was not for one that was": "models of no kind, which no catalogue has",
    "compare 'pointsman suite digests'": "generated jobs that differ from the published ones",
}
"""What no command of a test brings about; that commands and options exist is tested of them too."""

OTHER_PROGRAMS = (
    "sacct",
    "scontrol",
    "sinfo",
    "kubectl get",
    "export it with -o json",
    "held by a dependency or --begin",
)
"""Of Slurm and Kubernetes: commands that are not ours."""
