"""The front of a federation: nginx on the public address, which lets through the nodes' routes alone.

Flower 1.41 serves nodes, the control of runs and the executors on one port. So the SuperLink listens on
loopback, and nginx in front of it passes on what a registered node needs, and answers 404 to all else: the
start of a run, the list of nodes, the registration of a key. Nothing here needs Flower.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from optiframe_comrade.backends.flower.keys import Certificate

ROUTES = (
    "activate-node",
    "deactivate-node",
    "send-node-heartbeat",
    "pull-messages",
    "push-messages",
    "get-run",
    "get-fab",
    "push-object",
    "pull-object",
    "confirm-message-received",
)
"""What a node asks for under /v1/fleet/. Not among them: register-node, unregister-node."""
_LARGEST = "64m"  # of one request; a reply of 8 million numbers

_CONFIGURATION = """\
# Lets nodes reach the SuperLink on 127.0.0.1:{superlink}, and nobody do anything else with it.
# Written by python -m optiframe_comrade.backends.flower.federation; start with: nginx -c {folder}/nginx.conf
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx-errors.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    server_tokens off;
    client_body_temp_path {folder}/nginx/body;
    proxy_temp_path {folder}/nginx/proxy;
    fastcgi_temp_path {folder}/nginx/fastcgi;
    uwsgi_temp_path {folder}/nginx/uwsgi;
    scgi_temp_path {folder}/nginx/scgi;
    client_max_body_size {largest};
    client_body_timeout 60s;
    server {{
        listen {listen}:{port} ssl;
        server_name {name};
        ssl_certificate {certificate};
        ssl_certificate_key {key};
        ssl_protocols TLSv1.2 TLSv1.3;
        # 404 and not 403: a node without a key that gets 403 stays half alive.
        location / {{ return 404; }}
        location ~ ^/v1/fleet/({routes})$ {{
            if ($request_method != POST) {{ return 404; }}
            # The route's name alone, not what was sent: no dot-segments, no encoded slashes, no query.
            proxy_pass https://127.0.0.1:{superlink}/v1/fleet/$1;
            proxy_http_version 1.1;
            proxy_ssl_verify on;
            proxy_ssl_trusted_certificate {authority};
            proxy_ssl_name {name};
        }}
    }}
}}
"""


def write_front(
    folder: Path, certificate: Certificate, *, name: str, listen: str, port: int, superlink: int
) -> Path:
    """Write nginx's configuration for a SuperLink on 127.0.0.1; its path.

    Parameters
    ----------
    folder
        Where nginx keeps its own files, too; an absolute path without spaces.
    certificate
        Whose server's names include `name`.
    name, listen, port
        The DNS name by which nodes know the centre, the address and port nginx listens on.
    superlink
        The SuperLink's port.
    """
    (folder / "nginx").mkdir(exist_ok=True)
    path = folder / "nginx.conf"
    text = _CONFIGURATION.format(
        folder=folder,
        largest=_LARGEST,
        listen=listen,
        port=port,
        name=name,
        certificate=certificate.server,
        key=certificate.key,
        authority=certificate.authority,
        routes="|".join(ROUTES),
        superlink=superlink,
    )
    path.write_text(text, encoding="utf-8")
    return path


def nginx() -> str | None:
    """The path of nginx's program, None where it is not installed; Debian keeps it off users' PATH."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
