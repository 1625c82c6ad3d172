"""The benchmark gives the harness what it looks for, and reads the controller's counters."""

from __future__ import annotations

import http.server
import socket
import threading
from pathlib import Path

import pytest
import yaml
from capm3_testbed import bench, bench_small, net
from capm3_testbed.apiserver.binaries import Binaries

METRICS = """# HELP rest_client_requests_total Number of HTTP requests.
rest_client_requests_total{code="200",method="GET",host="127.0.0.1:1"} 3.0
rest_client_requests_total{code="200",method="GET",host="127.0.0.1:2"} 2.0
rest_client_requests_total{code="409",method="PATCH",host="127.0.0.1:1"} 1.0
other_total{code="200"} 9.0
"""


def test_the_harness_finds_the_definitions_of_core_in_its_layout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_ETCD", "/chosen/etcd")
    environ = bench._environment(Binaries(tmp_path / "etcd", tmp_path / "api", "cache"), tmp_path, tmp_path)
    assert environ["BENCH_ETCD"] == "/chosen/etcd"
    assert environ["BENCH_APISERVER"] == str(tmp_path / "api")
    bases = Path(environ["BENCH_CAPI"]) / "core/config/crd/bases"
    for name in ("cluster.x-k8s.io_machines.yaml", "ipam.cluster.x-k8s.io_ipaddressclaims.yaml"):
        assert yaml.safe_load((bases / name).read_text())["kind"] == "CustomResourceDefinition"


def test_a_missing_harness_is_said_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--harness", str(tmp_path)]) == 1
    assert "bench.py does not exist" in capsys.readouterr().out


def test_ratios_are_ours_by_theirs() -> None:
    assert bench._ratio(1.0, 2.0) == "0.50"
    assert bench._ratio(1.0, 0.0) == "-"


def test_requests_are_summed_over_servers_by_method_and_code() -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(METRICS.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        assert bench_small._requests(server.server_address[1]) == {"GET 200": 5, "PATCH 409": 1}


def test_a_free_pair_is_two_ports_that_can_be_bound() -> None:
    first = net.free_pair()
    with socket.create_server(("127.0.0.1", first)), socket.create_server(("127.0.0.1", first + 1)):
        pass
