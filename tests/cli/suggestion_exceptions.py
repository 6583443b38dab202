"""Messages that the table of suggestions leaves out, and why."""

NO_COMMAND = {
    "--target {}: {}": "the option that is wrong",
    "--baseline {}: the log has no start times": "the option that is wrong",
    "--baseline {}": "the option that is wrong",
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
    "so --force does not replace it": "an option that does not help",
    "this is a comparison without its runs": "where a run is, which only the reader knows",
    "so its files were removed": "a full disk",
    "out of memory": "a full memory",
    "this is a bug in Pointsman": "a fault of ours",
    "the trace format {} failed": "a fault of a plug-in",
    "# Options": "a page",
    "Unit of times in Tiresias job lists": "the help of an option",
    "a file of 'pointsman profile pairs'": "the help of an option",
    "or from a file of 'pointsman profile interference'": "the help of an option",
    "the run's --estimate, or nothing": "the help of a parameter",
    "as --node-interference takes it": "the help of a parameter",
    "As of 'pointsman simulate'.": "the help of a parameter",
    "a checkpoint is what 'pointsman train -o DIR' wrote": "what made a file",
    "give the directory that 'pointsman compare' wrote": "what made a file",
    "'pointsman simulate --policy metarl -o DIR', or none": "what made a file",
}
"""They name an option or a command and suggest none."""

ELSEWHERE = {
    "pointsman warmup": "tests/cli/test_killed_commands.py",
    "train anew, without --resume": "tests/cli/test_training_directory.py",
    "--resume": "tests/cli/test_training_directory.py",
    "generations: give --set": "tests/cli/test_train_scorer.py",
    "runs: give --set": "tests/cli/test_train_metarl.py",
    "is trained by {}, not --steps": "tests/cli/test_train_metarl.py",
    "(use it with --policy {}:{})": "tests/cli/test_train.py",
    "go on with it by 'pointsman train": "tests/cli/test_train_scorer.py",
    "use it as --policy {}:{}": "tests/learn/test_checkpoint.py",
    "give those you trained, --policy {}:DIR": "tests/cli/test_train.py",
    "run it with --rate-model {}": "tests/engine/run",
    "run it with --gpu-sharing": "tests/engine/run",
    "leave out --log-speeds": "tests/engine/run",
    "leave their log out (--no-log": "tests/engine/run",
    "run again with --rate-model rates": "tests/cli/test_profile_interference.py",
    "--on ray": "tests/parallel/test_ray.py",
    "give --window, or run again": "tests/cli/test_grid.py",
    "takes all that was not for one that was": "tests/speed/test_interference.py",
    "unknown GPU type {} ({}; --profiles FILE describes another)": "tests/speed/test_interference.py",
    "compare 'pointsman suite digests'": "tests/suite/test_suite.py",
}
"""They take a training, a cluster of Ray or a damaged file to be said; these tests run what they suggest."""

OTHER_PROGRAMS = ("sacct", "scontrol", "sinfo", "held by a dependency or --begin")
"""Of Slurm: commands that are not ours."""
