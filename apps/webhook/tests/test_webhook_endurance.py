"""Whatever is sent, an answer in form comes back, no bug is met and the memory stays flat."""

from __future__ import annotations

import gc
import json
import logging
import os
import random
import tracemalloc

import pytest
from capm3_webhook import app, paths
from capm3_webhook.metrics import Metrics
from capm3_webhook.settings import Settings
from capm3_webhook.testing import client, mutations

COUNT = int(os.environ.get("CAPM3_MUTATIONS", "3000"))
"""10,000 and more in the long session; the seed is fixed."""


def _check(path, status, headers, content):
    answer = json.loads(content)
    assert headers["content-type"] == "application/json"
    if path == paths.CONVERT:
        assert status in (200, 400, 413) and answer["kind"] == "ConversionReview"
        assert answer["response"]["result"]["status"] in ("Success", "Failure")
        assert bool(answer["response"]["result"].get("message")) == (
            answer["response"]["result"]["status"] == "Failure"
        )
    else:
        assert status == 200 and answer["kind"] == "AdmissionReview"
        response = answer["response"]
        assert isinstance(response["allowed"], bool) and isinstance(response["uid"], str)
        assert response["allowed"] or response["status"]["message"]
    return answer


@pytest.mark.timeout(600)
def test_broken_reviews_get_an_answer_in_form_and_meet_no_bug(caplog):
    metrics = Metrics()
    application = app.build(Settings(body_limit=50_000, conversion_body_limit=50_000), metrics)
    rng = random.Random(20240229)
    verdicts = set()
    try:
        for number in range(COUNT):
            path, body, headers = mutations.request(rng)
            answer = _check(path, *client.call(application, path, body, headers=headers))
            verdicts.add(answer["response"].get("allowed", answer["response"].get("result", {}).get("status")))
            bugs = [record for record in caplog.records if record.levelno >= logging.WARNING]
            assert not bugs, f"request {number} to {path} met a bug: {caplog.text}\n{body[:2000]!r}"
    finally:
        application.state.handlers.close()
    assert verdicts == {True, False, "Success", "Failure"}, "the mutations must reach both answers of both protocols"


@pytest.mark.timeout(600)
def test_memory_stays_flat_under_broken_reviews():
    application = app.build(Settings(body_limit=50_000, conversion_body_limit=50_000), Metrics())
    rng = random.Random(7)

    def round_of(count):
        for _ in range(count):
            path, body, headers = mutations.request(rng)
            client.call(application, path, body, headers=headers)
        gc.collect()

    try:
        round_of(200)
        tracemalloc.start()
        round_of(100)
        before = tracemalloc.get_traced_memory()[0]
        round_of(300)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
        application.state.handlers.close()
    assert grown < 500_000, f"{grown} bytes more after 300 reviews"
