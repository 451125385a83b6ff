"""The recipes of docs/beyond-one-machine.md do what they say."""

from __future__ import annotations

import base64
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import yaml
from conftest import CHASSIS, ROOT, command_line
from test_dask import contents

WORDS = ["--replications=8"]


def test_the_pods_of_the_kubernetes_job_print_what_merge_puts_together(tmp_path):
    job = yaml.safe_load((ROOT / "docs/kubernetes-job.yaml").read_text())
    completions = job["spec"]["completions"]
    [container] = job["spec"]["template"]["spec"]["containers"]
    environment = {entry["name"]: entry["value"] for entry in container["env"]}
    assert environment == {"JOB_COMPLETIONS": str(completions)}
    [mount] = container["volumeMounts"]
    [script] = container["args"]

    scenario = tmp_path / "scenario"
    scenario.mkdir()
    shutil.copy(CHASSIS, scenario / "scenario.json")
    # A pod has its own files; here each has its own folder.
    script = script.replace(f"{mount['mountPath']}/scenario.json", f"{scenario}/scenario.json")
    script = script.replace("--shard auto", f"--shard auto {' '.join(WORDS)}")
    assert str(scenario) in script
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for index in range(completions):
        pod = script.replace("/tmp/out", str(tmp_path / f"pod-{index}"))
        variables = environment | {"JOB_COMPLETION_INDEX": str(index), "PATH": path}
        done = subprocess.run(
            [*container["command"], pod], env=os.environ | variables, capture_output=True, check=True
        )
        with tarfile.open(fileobj=io.BytesIO(base64.b64decode(done.stdout))) as archive:
            archive.extractall(tmp_path / "merged", filter="data")

    file = CHASSIS.relative_to(ROOT)
    folder = tmp_path / "merged" / CHASSIS.stem
    words = ["--scenario", file, "--output", folder.parent, "--quiet"]
    command_line("merge", folder, *words)
    command_line("run", file, *WORDS, "--output", tmp_path / "whole", "--quiet")
    assert contents(tmp_path / "merged") == contents(tmp_path / "whole")
