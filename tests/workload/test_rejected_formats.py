"""Files that are no job log are refused by what they are."""

import pytest

from pointsman.errors import InputError
from pointsman.workload import read_workload

FILES = [
    (
        "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,P100\n",
        "an openb node list, not a job log .give it to --cl",
    ),
    ("num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,32,4,40,256", "Tiresias cluster"),
    ("duration\r\n121\r\n122\r\n", "a list of run times alone"),
    ("job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n", "header alone of"),
    ("job_name,inst_id,user,status,start_time,end_time\n", "PAI job table, which has no GPUs"),
    ("j1,i1,u1,Terminated,10,20\n", "PAI job table, which has no GPUs"),
    ("inst_id,user,gpu_type_spec,group,workload\n", "PAI group tag table"),
    ("placement,local_bsz,step_time,sync_time\n1,32,0.04,0.001\n", "step times by placement"),
    ("progress,iteration,metric,grad_sqr,grad_var\n1,1,1,1,1\n", "Pollux validation run"),
    ('{"v100": {}, "k80": {}}', "Gavel throughput file"),
    ('{"a": 1}', "no job log of a known format"),
    ('[{"jobid": ', "broken JSON"),
    ("time,total_job_num,running_gpu_num,pending_gpu_num\n", "time series of a cluster's load"),
    ("submit_s\tgpus\tduration_s\n1\t2\t3\n", "separated by tabs"),
]


@pytest.mark.parametrize(("text", "said"), FILES)
def test_refused_by_what_they_are(tmp_path, text, said):
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said) as caught:
        read_workload(path)
    assert caught.value.exit_code == 3
