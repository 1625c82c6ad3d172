"""The process behind `emulator.Emulator`: sushy-tools' own application with what a testbed needs around it.

A process of its own, because sushy-tools keeps its application, configuration and state in globals: one server each.
It ends when its standard input closes, so that no parent, however it dies, leaves it behind.
"""

from __future__ import annotations

import copy
import io
import ipaddress
import json
import logging
import os
import secrets
import sys
import threading
import time
import urllib.parse
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import bcrypt
from sushy_tools import error
from sushy_tools.emulator import main as sushy_main
from sushy_tools.emulator.resources import vmedia
from sushy_tools.emulator.resources.systems import fakedriver
from werkzeug import serving

Start = Callable[..., Any]


class Systems(fakedriver.FakeDriver):  # type: ignore[misc]
    """sushy-tools' fake systems with a settable power delay, hardware figures and a record of what was booted."""

    def set_power_state(self, identity: str, state: str) -> None:
        super().set_power_state(identity, state)
        system = self._get(identity)
        pending = system.get("pending_power")
        if pending:
            pending = {**pending, "apply_time": time.time() + self._config["POWER_SECONDS"]}
            self._update(system, pending_power=pending)

    def _update(self, system: Any, **changes: Any) -> None:
        if not isinstance(system, str) and "power_state" in changes:
            changes = {**changes, **self._booted(system, changes["power_state"])}
        super()._update(system, **changes)

    def _booted(self, system: dict[str, Any], power: str) -> dict[str, Any]:
        if power != "On":
            return {"booted_device": "", "booted_image": ""}
        device = system.get("boot_device", "Hdd")
        image = media(self._config["folder"], system["uuid"]).get("Image", "") if device == "Cd" else ""
        return {"booted_device": device, "booted_image": image, "boots": system.get("boots", 0) + 1}

    def get_total_memory(self, identity: str) -> int:
        return int(self._config["memory_gib"])

    def get_total_cpus(self, identity: str) -> int:
        return int(self._config["cpus"])

    def get_processors(self, identity: str) -> list[dict[str, Any]]:
        return [
            {
                "id": "CPU0",
                "socket": "CPU 0",
                "manufacturer": "Example",
                "model": "Example CPU",
                "cores": self._config["cpus"],
                "threads": self._config["cpus"],
            }
        ]


class Media(vmedia.StaticDriver):  # type: ignore[misc]
    """sushy-tools' virtual media; an image that is not on this machine gets an empty file, for nothing may leave it."""

    def _get_image(self, image_url: str, auth: Any, verify: Any, cert: Any) -> tuple[str, str]:
        if is_loopback(image_url):
            return super()._get_image(image_url, auth, verify, cert)  # type: ignore[no-any-return]
        folder = Path(self._config["folder"]) / f"image-{secrets.token_hex(4)}"
        folder.mkdir()
        file = folder / (Path(urllib.parse.urlsplit(image_url).path).name or "image.iso")
        file.touch()
        return file.name, str(file)


_MEDIA: dict[str, Media] = {}


def media(folder: str, system: str) -> dict[str, Any]:
    """What is in the virtual CD."""
    driver = _MEDIA.get(folder)
    return driver._get_device(system, "Cd") if driver else {}


def is_loopback(url: str) -> bool:
    host = urllib.parse.urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Recorder:
    """WSGI middleware: writes down each Redfish request, and answers the parent's own questions."""

    def __init__(self, app: Any, inner: Start, config: dict[str, Any]) -> None:
        self._app = app
        self._inner = inner
        self._token = config["token"]
        self._uuid = config["uuid"]
        self._folder = config["folder"]
        self._file = (Path(config["folder"]) / "requests.jsonl").open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path.startswith("/_emulator/"):
            return self._control(path.rpartition("/")[2], environ, start_response)
        body = _body(environ)

        def started(status: str, headers: Any, exc_info: Any = None) -> Any:
            self._write(environ.get("REQUEST_METHOD", ""), path, int(status.split()[0]), body)
            return start_response(status, headers, exc_info)

        with self._lock:
            return list(self._inner(environ, started))

    def _write(self, method: str, path: str, status: int, body: Any) -> None:
        line = {"method": method, "path": path, "status": status, "body": body, "at": time.time()}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def _control(self, verb: str, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        if environ.get("HTTP_X_EMULATOR_TOKEN") != self._token:
            start_response("403 Forbidden", [])
            return []
        with self._lock:
            if verb == "power-failure":
                systems = self._app.systems
                systems._update(systems._get(self._uuid), power_state="Off", pending_power=None)
            answer = self._state()
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(answer).encode()]

    def _state(self) -> dict[str, Any]:
        system = self._app.systems._get(self._uuid)
        cd = self._app.vmedia._get_device(self._uuid, "Cd")
        return {
            "power": system["power_state"],
            "image": cd.get("Image") or "",
            "boot_device": system.get("boot_device", "Hdd"),
            "boot_mode": system.get("boot_mode", "UEFI"),
            "booted_device": system.get("booted_device", ""),
            "booted_image": system.get("booted_image", ""),
            "boots": system.get("boots", 0),
            "fetched": bool(cd.get("Image")) and is_loopback(cd["Image"]),
        }


def _body(environ: dict[str, Any]) -> Any:
    """The JSON body, put back for the application; passwords masked."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if not length:
        return None
    data = environ["wsgi.input"].read(length)
    environ["wsgi.input"] = io.BytesIO(data)
    try:
        body = json.loads(data)
    except ValueError:
        return f"<{length} bytes>"
    return {key: "***" if "password" in key.lower() else value for key, value in body.items()}


def _disk(system: str, size_gib: int) -> dict[str, Any]:
    """One controller with one disk, as sushy-tools' static storage wants them; nothing for a size of 0."""
    if not size_gib:
        return {}
    try:
        key = str(uuid.UUID(system))
    except ValueError:
        return {}
    controller = {"MemberId": "0", "Name": "Controller", "SpeedGbps": 12}
    storage = {"Id": "1", "Name": "Local storage", "StorageControllers": [controller], "Drives": ["disk0"]}
    drive = {"Id": "disk0", "Name": "Disk 0", "CapacityBytes": size_gib * 1024**3, "Protocol": "SAS"}
    return {"SUSHY_EMULATOR_STORAGE": {key: [storage]}, "SUSHY_EMULATOR_DRIVES": {(key, "1"): [drive]}}


def application(config: dict[str, Any], password: str) -> Any:
    """sushy-tools' application for one fake system."""
    folder = config["folder"]
    extra: dict[str, Any] = {
        "SUSHY_EMULATOR_FAKE_DRIVER": True,
        "SUSHY_EMULATOR_STATE_DIR": folder,
        "SUSHY_EMULATOR_FAKE_SYSTEMS": [
            {
                "uuid": config["uuid"],
                "name": config["name"],
                "power_state": config["power_state"],
                "nics": [{"mac": mac} for mac in config["macs"]],
            }
        ],
        **_disk(config["uuid"], config["disk_gib"]),
        "POWER_SECONDS": config["power_seconds"],
        **{key: config[key] for key in ("folder", "memory_gib", "cpus")},
    }
    if config["username"]:
        auth = Path(folder) / "auth"
        hashed = bcrypt.hashpw(password.encode(), bcrypt.gensalt(rounds=4)).decode()
        auth.write_text(f"{config['username']}:{hashed}\n", encoding="utf-8")
        extra["SUSHY_EMULATOR_AUTH_FILE"] = str(auth)
    fakedriver.FakeDriver = Systems
    vmedia.StaticDriver = Media
    app = sushy_main.app
    app.logger.setLevel(logging.WARNING)
    app.configure(extra_config=copy.deepcopy(extra))
    _MEDIA[folder] = app.vmedia
    app.wsgi_app = Recorder(app, app.wsgi_app, config)
    return app


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


def main(path: str) -> int:
    """Serves until standard input closes. The first line of it is the password as JSON."""
    config = json.loads(Path(path).read_text(encoding="utf-8"))
    password = json.loads(sys.stdin.readline())
    app = application(config, password)
    try:
        app.systems.uuid(config["uuid"])
    except error.FishyError as problem:
        print(problem, file=sys.stderr)  # noqa: T201 (a process's own log)
        return 1
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = serving.make_server("127.0.0.1", config["port"], app, threaded=True)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    print(server.server_port, flush=True)  # noqa: T201 (how the parent learns the port)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
