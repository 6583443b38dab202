"""The measurements file: what it means, and what is said of a wrong one."""

from math import isnan

import pytest

from pointsman.errors import InputError
from pointsman.speed import load_catalogue
from pointsman.speed.fitting.measurements import read_steps

HEADER = "model,gpu_type,gpus,nodes,batch_per_gpu,step_s"


def written(tmp_path, text):
    path = tmp_path / "m.csv"
    path.write_text(text)
    return path


def test_names_and_gradients_are_the_catalogues(tmp_path):
    (step,) = read_steps(written(tmp_path, f"{HEADER}\nBERT-base,T4,8,2,12,1.5\n"))
    assert (step.model, step.gpu_type, step.line) == ("bert", "t4", 2)
    assert step.gradient_bytes == load_catalogue().model("bert").gradient.bytes
    assert isnan(step.sync_s)


@pytest.mark.parametrize(
    ("gpus", "nodes", "placement"),
    [(8, 2, (4, 4)), (7, 2, (4, 3)), (10, 4, (3, 3, 2, 2)), (1, 1, (1,)), (3, 3, (1, 1, 1))],
)
def test_gpus_stand_evenly_where_nothing_else_is_said(tmp_path, gpus, nodes, placement):
    (step,) = read_steps(written(tmp_path, f"{HEADER}\nbert,t4,{gpus},{nodes},12,1.5\n"))
    assert step.placement == placement


def test_everything_optional(tmp_path):
    text = f"{HEADER},sync_s,gpus_per_node,gradient_bytes\n\nours,t4,7,3,12,1.5,0.2,1-4-2,5e8\n"
    (step,) = read_steps(written(tmp_path, text))
    assert step.placement == (4, 2, 1)
    assert (step.sync_s, step.gradient_bytes, step.line) == (0.2, 5e8, 3)
    assert step.shape == ((4, 3, 1, 1), (1, 3, 1, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"m.csv: the file is empty \(its header is model,"),
        (f"{HEADER}\n", "m.csv: no measurements: only a header"),
        ("model,gpu_type,gpus,nodes,batch,step_s\n", r"m.csv:1: unknown column 'batch' \(did you mean 'batch_per_gpu'"),
        (f"{HEADER},step_s\n", "m.csv:1: column 'step_s' is there twice"),
        ("model,gpu_type,gpus,nodes,step_s\n", "m.csv:1: no column 'batch_per_gpu'"),
        (f"{HEADER}\nbert,t4,1,1,8\n", "m.csv:2: 5 cells under 6 columns"),
        (f"{HEADER}\nbert,t4,1,1,8,fast\n", r"m.csv:2: step_s is 'fast' \(a number above 0\)"),
        (f"{HEADER}\nbert,t4,1,1,8,0\n", "m.csv:2: step_s is '0'"),
        (f"{HEADER}\nbert,t4,1,1,8,inf\n", "m.csv:2: step_s is 'inf'"),
        (f"{HEADER}\nbert,t4,1,1,-8,1\n", "m.csv:2: batch_per_gpu is '-8'"),
        (f"{HEADER}\nbert,t4,1.5,1,8,1\n", "m.csv:2: gpus is '1.5'"),
        (f"{HEADER}\nbert,t4,2e9,1,8,1\n", "m.csv:2: gpus is '2e9'"),
        (f"{HEADER}\nbert,t4,1,2,8,1\n", r"m.csv:2: 1 GPU on 2 nodes \(every node has at least one\)"),
        (f"{HEADER}\n,t4,1,1,8,1\n", "m.csv:2: model is empty"),
        (f"{HEADER}\nbert,t5,1,1,8,1\n", r"m.csv:2: unknown GPU type 't5' \(.*--profiles FILE describes another"),
        (
            f"{HEADER}\nbert,t4,1,1,8,1\nours,t4,2,1,8,1\n",
            r"m.csv:3: model 'ours' is not .*add a column gradient_bytes",
        ),
        (f"{HEADER},sync_s\nbert,t4,2,1,8,1,1.2\n", "m.csv:2: sync_s is 1.2 of a step of 1 s"),
        (f"{HEADER},gpus_per_node\nbert,t4,4,2,8,1,3-2\n", "m.csv:2: gpus_per_node '3-2' is not 4 GPUs on 2 nodes"),
        (f"{HEADER},gpus_per_node\nbert,t4,4,2,8,1,2x2\n", r"m.csv:2: gpus_per_node is '2x2' \(write it like 4-4-2"),
        (
            f"{HEADER},gradient_bytes\nours,t4,2,1,8,1,5\nours,t4,2,1,8,1,6\n",
            "m.csv:3: ours has gradients of 6 bytes here and of 5 on line 2",
        ),
        (f'{HEADER}\n"bert,t4,1,1,8,1\n', "m.csv:2: not valid CSV"),
    ],
)
def test_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_steps(written(tmp_path, text))


def test_no_file_and_no_text(tmp_path):
    with pytest.raises(InputError, match=r"none.csv: cannot be read: No such file"):
        read_steps(tmp_path / "none.csv")
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00model")
    with pytest.raises(InputError, match=r"b.csv: binary data"):
        read_steps(tmp_path / "b.csv")


def test_a_single_gpu_needs_no_gradient(tmp_path):
    (step,) = read_steps(written(tmp_path, f"{HEADER}\nours,t4,1,1,8,1\n"))
    assert isnan(step.gradient_bytes)
