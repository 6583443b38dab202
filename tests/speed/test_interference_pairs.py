"""The file of measured pairs: what it means, and what is said of a wrong one."""

import pytest

from pointsman.errors import InputError
from pointsman.speed import load_catalogue
from pointsman.speed.interference.pairs import read_pairs

NORMS = "gpu_type,model_a,model_b,norm_a,norm_b"
TIMES = "gpu_type,model_a,model_b,alone_s_a,step_s_a,alone_s_b,step_s_b"


def read(tmp_path, text):
    (tmp_path / "p.csv").write_text(text)
    return read_pairs(tmp_path / "p.csv", load_catalogue())


def test_speeds_and_step_times_say_the_same(tmp_path):
    (norms,) = read(tmp_path, f"{NORMS},batch_a,batch_b\nV100-32GB,BERT-base,ours,0.5,0.8,16,\n")
    (times,) = read(tmp_path, f"{TIMES}\nv100,bert,ours,0.2,0.4,0.8,1.0\n")
    assert norms == times == ("v100", "bert", "ours", 0.5, 0.8, False)


def test_rows_of_both_kinds_may_stand_in_one_file(tmp_path):
    header = "norm_b,norm_a,gpu_type,model_a,model_b,alone_s_a,step_s_a,alone_s_b,step_s_b"
    rows = read(tmp_path, f"{header}\n0.9,0.8,t4,bert,gpt2,,,,\n\n,,t4,bert,gpt2,1,2,1,4\n")
    assert [row[3:5] for row in rows] == [(0.8, 0.9), (0.5, 0.25)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"p.csv: the file is empty \(its header is gpu_type,model_a,model_b\)"),
        (f"{NORMS}\n", "p.csv: no measurements: only a header"),
        ("gpu_type,model_a,norm_a,norm_b\n", r"p.csv:1: no column 'model_b' \(columns: .*optional: norm_a"),
        ("gpu_type,model_a,model_b,norms_a,norm_b\n", r"p.csv:1: unknown column 'norms_a' \(did you mean 'norm_a'"),
        (
            "gpu_type,model_a,model_b\nt4,bert,gpt2\n",
            r"p.csv:2: neither normalised speeds nor step times \(give norm_a",
        ),
        (f"{NORMS},step_s_a\nt4,bert,gpt2,0.5,0.5,1\n", "p.csv:2: both normalised speeds and step times"),
        (f"{NORMS}\nt4,bert,gpt2,0.5,\n", r"p.csv:2: norm_b is '' \(a number above 0\)"),
        (f"{NORMS}\nt4,bert,gpt2,0.5,0\n", "p.csv:2: norm_b is '0'"),
        (
            f"{NORMS}\nt4,bert,gpt2,68,55\n",
            r"p.csv:2: bert runs at 68 of its speed alone \(norm_a is a share from 0.001",
        ),
        (f"{NORMS}\nt4,bert,gpt2,0.5,1e-9\n", "p.csv:2: gpt2 runs at 1e-09 of its speed alone"),
        (f"{TIMES}\nt4,bert,gpt2,3,1,1,1\n", "p.csv:2: bert runs at 3 of its speed alone"),
        (f"{TIMES}\nt4,bert,gpt2,1,1,1,\n", "p.csv:2: step_s_b is ''"),
        (f"{NORMS}\nt5,bert,gpt2,0.5,0.5\n", r"p.csv:2: unknown GPU type 't5' \(.*--profiles FILE"),
        (f"{NORMS}\nt4,,gpt2,0.5,0.5\n", "p.csv:2: model_a is empty"),
        (f"{NORMS},batch_a\nt4,bert,gpt2,0.5,0.5,many\n", "p.csv:2: batch_a is 'many'"),
    ],
)
def test_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)
