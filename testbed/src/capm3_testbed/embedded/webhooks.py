"""Admission webhooks: which are called for a request, with what, and what their answers mean.

Apart from the world's own rules; `webhook_client` does the calling. Not run: ``matchConditions`` (CEL); a webhook with
some is always called. ``reinvocationPolicy`` has no effect.
"""

from __future__ import annotations

import base64
import dataclasses
import uuid
from collections.abc import Iterator

import orjson
from capm3_api import kinds
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.ports import ApiError
from capm3_managers.testing import patches, world_errors
from capm3_managers.testing.world import World
from capm3_managers.testing.world_errors import Cause, StatusError
from capm3_managers.testing.world_types import Hooks, Request

from capm3_testbed.embedded import core, reviews, webhook_rules
from capm3_testbed.embedded.registry import Registry
from capm3_testbed.embedded.webhook_client import WebhookClient, WebhookFailed

_OPERATIONS = {"create": "CREATE", "update": "UPDATE", "patch": "UPDATE", "delete": "DELETE"}
_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}
_EXEMPT = (core.VALIDATING.group,)


@dataclasses.dataclass(frozen=True)
class _Call:
    """One webhook that is to be called.

    Args:
        kind: in the version that it wants to see.
    """

    webhook: Raw
    kind: Kind

    @property
    def name(self) -> str:
        return str(self.webhook.get("name") or "")


class Webhooks:
    """Calls the webhooks that the configurations in the world ask for."""

    def __init__(self, world: World, registry: Registry, client: WebhookClient) -> None:
        self._world = world
        self._registry = registry
        self._client = client

    def install(self, hooks: Hooks) -> None:
        hooks.mutate = self.mutate
        hooks.validate = self.validate

    def mutate(self, request: Request, new: Raw, old: Raw | None) -> Raw:
        """The object after every mutating webhook, in the order of their configurations' names."""
        for call in self._calls(core.MUTATING, request, new, old):
            response = self._ask(call, request, new, old)
            patch = response.get("patch")
            if patch:
                new = self._patched(call, request, new, patch)
        return new

    def validate(self, request: Request, new: Raw | None, old: Raw | None) -> None:
        """Raises the first refusal."""
        for call in self._calls(core.VALIDATING, request, new, old):
            self._ask(call, request, new, old)

    def _calls(self, configurations: Kind, request: Request, new: Raw | None, old: Raw | None) -> Iterator[_Call]:
        if request.kind.group in _EXEMPT:
            return
        operation = _OPERATIONS[request.verb]
        for configuration in self._world.list(configurations, "", version=self._world.version):
            for webhook in configuration.get("webhooks") or []:
                kind = self._match(webhook, request, operation)
                if kind and self._selected(webhook, request, new, old):
                    yield _Call(webhook, kind)

    def _match(self, webhook: Raw, request: Request, operation: str) -> Kind | None:
        """The kind in the version to send, ``None`` when no rule fits."""
        rules = webhook.get("rules") or []
        if any(webhook_rules.fits(rule, request.kind, request.subresource, operation) for rule in rules):
            return request.kind
        if webhook.get("matchPolicy", "Equivalent") != "Equivalent":
            return None
        others = [served.kind for served in self._registry.versions(request.kind) if served.kind != request.kind]
        fitting = (
            kind
            for kind in others
            if any(webhook_rules.fits(rule, kind, request.subresource, operation) for rule in rules)
        )
        return next(fitting, None)

    def _selected(self, webhook: Raw, request: Request, new: Raw | None, old: Raw | None) -> bool:
        if not webhook_rules.selects(webhook.get("objectSelector"), new, old):
            return False
        if not request.kind.namespaced:
            return True
        space = self._world.get(kinds.NAMESPACE, Key("", request.key.namespace), version=self._world.version)
        return webhook_rules.selects(webhook.get("namespaceSelector"), space, None)

    def _ask(self, call: _Call, request: Request, new: Raw | None, old: Raw | None) -> Raw:
        """The webhook's response when it allows; ``{}`` when it failed and may be ignored."""
        webhook = call.webhook
        if request.dry_run and webhook.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise world_errors.bad_request(f'admission webhook "{call.name}" does not support dry run')
        review = self._review(call, request, new, old)
        try:
            timeout = float(webhook.get("timeoutSeconds") or 10)
            answer = self._client.call(webhook.get("clientConfig") or {}, review, timeout)
            response: Raw = answer.get("response") or {}
            if response.get("uid") != review["request"]["uid"]:
                raise WebhookFailed("the answer's uid is not the request's")
        except WebhookFailed as error:
            if webhook.get("failurePolicy", "Fail") == "Ignore":
                return {}
            text = f'Internal error occurred: failed calling webhook "{call.name}": failed to call webhook: {error}'
            raise ApiError(500, "InternalError", text) from None
        request.warnings.extend(str(warning) for warning in response.get("warnings") or [])
        if not response.get("allowed"):
            raise _denied(call, response.get("status") or {})
        return response

    def _review(self, call: _Call, request: Request, new: Raw | None, old: Raw | None) -> Raw:
        operation = _OPERATIONS[request.verb]
        body: Raw = {
            "uid": str(uuid.uuid4()),
            **_names(call.kind, "kind", "resource"),
            **_names(request.kind, "requestKind", "requestResource"),
            "name": request.key.name,
            "operation": operation,
            "userInfo": reviews.user_info(request.user),
            "object": self._seen(call, new),
            "oldObject": self._seen(call, old),
            "dryRun": request.dry_run,
            "options": {"kind": _OPTIONS[operation], "apiVersion": "meta.k8s.io/v1"},
        }
        if request.key.namespace:
            body["namespace"] = request.key.namespace
        if request.subresource:
            body["subResource"] = body["requestSubResource"] = request.subresource
        return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": body}

    def _seen(self, call: _Call, obj: Raw | None) -> Raw | None:
        """The object in the version that the webhook wants."""
        if obj is None or obj.get("apiVersion") == call.kind.api_version:
            return obj
        return self._world.definition(call.kind).convert([obj], call.kind.api_version)[0]

    def _patched(self, call: _Call, request: Request, obj: Raw, patch: str) -> Raw:
        try:
            operations = orjson.loads(base64.b64decode(patch))
            seen = self._seen(call, obj) or obj
            changed = patches.apply(seen, operations)
        except (ValueError, ApiError) as error:
            text = (
                f'Internal error occurred: admission webhook "{call.name}" sent a patch that can\'t be applied: {error}'
            )
            raise ApiError(500, "InternalError", text) from None
        return self._world.definition(call.kind).convert([changed], request.kind.api_version)[0]


def _names(kind: Kind, kind_field: str, resource_field: str) -> Raw:
    return {
        kind_field: {"group": kind.group, "version": kind.version, "kind": kind.kind},
        resource_field: {"group": kind.group, "version": kind.version, "resource": kind.plural},
    }


def _denied(call: _Call, status: Raw) -> ApiError:
    text = str(status.get("message") or status.get("reason") or "")
    message = f'admission webhook "{call.name}" denied the request'
    message += f": {text}" if text else " without explanation"
    code = int(status.get("code") or 403)
    causes = [
        Cause(str(cause.get("reason") or ""), str(cause.get("field") or ""), str(cause.get("message") or ""))
        for cause in (status.get("details") or {}).get("causes") or []
    ]
    return StatusError(code if code >= 400 else 403, str(status.get("reason") or "Forbidden"), message, causes)
