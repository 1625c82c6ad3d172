"""The benchmark measures what it says, in a small run."""

from __future__ import annotations

import json

from capm3_webhook import bench


def test_a_small_run_gives_every_figure_and_keeps_the_cpu_limit(capsys):
    code = bench.main(["--lists", "2", "--reviews", "20", "-o", "json"])
    figures = json.loads(capsys.readouterr().out.partition("over ")[0])
    assert {"v1beta1 to v1beta2: objects/s", "v1beta2 to v1beta1: objects/s", "admission: p99 ms"} <= set(figures)
    assert all(value > 0 for value in figures.values())
    over = [name for name, value in figures.items() if name.endswith("CPU s") and value > bench.CPU_LIMIT_SECONDS]
    assert code == (1 if over else 0) and over == []


def test_a_table_has_a_line_for_each_figure():
    assert bench.table({"a: x/s": 1.0, "long name": 2.5}) == "a: x/s          1.000\nlong name       2.500\n"
