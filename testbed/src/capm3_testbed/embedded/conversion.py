"""Conversion between the versions of a custom resource: by relabelling, or by the CRD's webhook.

Apart from the strategy in `crds`, because it leaves the process and can fail.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from capm3_api.model import Raw
from capm3_managers.ports import ApiError
from capm3_managers.testing.world_types import metadata_of, relabel

from capm3_testbed.embedded.webhook_client import WebhookClient, WebhookFailed

_TIMEOUT_SECONDS = 30.0
_KEPT = ("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp")


class Converter:
    """Args:
    client: calls webhooks.
    """

    def __init__(self, client: WebhookClient) -> None:
        self._client = client

    def convert(self, crd: Raw, objects: Sequence[Raw], api_version: str) -> list[Raw]:
        """The objects in that version, in the same order.

        Raises:
            ApiError: 500, the webhook failed, or changed what it may not.
        """
        conversion = crd["spec"].get("conversion") or {}
        if conversion.get("strategy") != "Webhook":
            return relabel(objects, api_version)
        todo = [obj for obj in objects if obj.get("apiVersion") != api_version]
        if not todo:
            return list(objects)
        done = iter(self._ask(crd, conversion.get("webhook") or {}, todo, api_version))
        return [obj if obj.get("apiVersion") == api_version else next(done) for obj in objects]

    def _ask(self, crd: Raw, webhook: Raw, objects: list[Raw], api_version: str) -> list[Raw]:
        uid = str(uuid.uuid4())
        review = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "ConversionReview",
            "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": objects},
        }
        kind = crd["spec"]["names"]["kind"]
        try:
            answer = (
                self._client.call(webhook.get("clientConfig") or {}, review, _TIMEOUT_SECONDS).get("response") or {}
            )
        except WebhookFailed as error:
            raise _failed(kind, str(error)) from None
        result = answer.get("result") or {}
        if result.get("status") != "Success":
            raise _failed(kind, str(result.get("message") or "conversion request failed"))
        found = answer.get("convertedObjects") or []
        if answer.get("uid") != uid or len(found) != len(objects):
            raise _failed(kind, "the webhook's answer does not fit the request")
        return [_checked(kind, before, after, api_version) for before, after in zip(objects, found, strict=True)]


def _checked(kind: str, before: Raw, after: Raw, api_version: str) -> Raw:
    """The converted object, if the webhook left its identity alone."""
    if after.get("apiVersion") != api_version or after.get("kind") != before.get("kind"):
        raise _failed(kind, f"invalid groupVersion or kind in the answer for {metadata_of(before).get('name')}")
    old, new = metadata_of(before), metadata_of(after)
    changed = [name for name in _KEPT if old.get(name) != new.get(name)]
    if changed:
        raise _failed(kind, f"the webhook changed metadata.{changed[0]} of {old.get('name')}")
    return after


def _failed(kind: str, why: str) -> ApiError:
    return ApiError(500, "InternalError", f"conversion webhook for {kind} failed: {why}")
