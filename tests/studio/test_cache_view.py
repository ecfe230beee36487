# SPDX-License-Identifier: MIT
"""The segments that the page draws answer each read as the disk's cache did."""

import pytest
from built_page import built
from page_jobs import in_node, page_job, simulations


@pytest.mark.parametrize("disk", ["cheetah-15k4", "nachos"])
def test_hits_are_those_of_the_run(tmp_path_factory: pytest.TempPathFactory, disk: str) -> None:
    """In runs of each workload and scheduler."""
    module = built(tmp_path_factory) / "data" / "simulator.wasm"
    jobs = [page_job(simulation) for simulation in simulations(disk)]
    answers = in_node("run_caches.ts", [module], jobs)
    assert len(answers) == len(jobs)
    assert {answer["differs"] for answer in answers} == {None}
    assert all(answer["inserted"] for answer in answers)
    if disk == "cheetah-15k4":
        assert sum(answer["hits"] for answer in answers) > 100 * len(answers)
        assert sum(answer["dropped"] for answer in answers) > 10 * len(answers)
        assert any(answer["wrong"] is not None for answer in answers), "other segments are noticed"
