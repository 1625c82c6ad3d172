"""What a provisioned server finds on its config drive: meta data, network data and user data of its BareMetalHost.

A stand-in: the testbed's machines are made up, so the Secrets that the host names are read instead of a drive. Keys and
defaults are those of the Baremetal Operator (behaviour facts on it, section on provisioning).
"""

from __future__ import annotations

import base64
import binascii
import dataclasses

import yaml
from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_testbed.capi.api import Api, mapping, name_of, text


class ConfigDriveError(Exception):
    """A document of the drive can't be used; the message names host and document, never the content."""


@dataclasses.dataclass(frozen=True)
class ConfigDrive:
    """The three documents of one host."""

    meta_data: Raw
    network_data: Raw
    user_data: str = dataclasses.field(repr=False)


def read(api: Api, host: Raw) -> ConfigDrive:
    """The documents of a host.

    Raises:
        ConfigDriveError: a Secret that the host names is not there, or is not what it should be.
    """
    name = name_of(host)
    defaults = {
        "uuid": meta.uid_of(host),
        "metal3-namespace": meta.key_of(host).namespace,
        "metal3-name": name,
        "local-hostname": name,
        "local_hostname": name,
        "name": name,
    }
    return ConfigDrive(
        {**defaults, **_document(api, host, "metaData")},
        _document(api, host, "networkData"),
        _text(api, host, "userData"),
    )


def _document(api: Api, host: Raw, field: str) -> Raw:
    content = _text(api, host, field)
    try:
        parsed = yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise ConfigDriveError(f"host {name_of(host)}: spec.{field} is not YAML") from error
    if parsed is not None and not isinstance(parsed, dict):
        raise ConfigDriveError(f"host {name_of(host)}: spec.{field} is not a mapping")
    return parsed or {}


def _text(api: Api, host: Raw, field: str) -> str:
    """The Secret's value under the field's own key, else under ``value``; empty when the host names none."""
    ref = mapping(host, "spec", field)
    if not text(ref, "name"):
        return ""
    key = Key(text(ref, "namespace") or meta.key_of(host).namespace, text(ref, "name"))
    secret = api.get(kinds.SECRET, key)
    if secret is None:
        raise ConfigDriveError(f"host {name_of(host)}: Secret {key} of spec.{field} does not exist")
    data = mapping(secret, "data")
    for name in (field, "value"):
        if isinstance(data.get(name), str):
            try:
                return base64.b64decode(data[name]).decode()
            except (binascii.Error, UnicodeDecodeError) as error:
                raise ConfigDriveError(f"host {name_of(host)}: Secret {key}, key {name}, is not text") from error
    raise ConfigDriveError(f"host {name_of(host)}: Secret {key} has neither key {field} nor value")
