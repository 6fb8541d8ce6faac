"""The server as a process on the network: guesses, half-sent requests, a real proxy with TLS in front."""

import asyncio
import base64
import datetime
import http.client
import ipaddress
import json
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from types import SimpleNamespace

import pytest
import uvicorn
from argon2 import PasswordHasher
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect

from dashboard.web import connections
from dashboard.web.connections import HEADER_SECONDS, UNFINISHED, Connection, Socket
from tests.browser.harness import ROOT
from tests.faults.conftest import Server

NAME = "atlas.test"
MOST_HASHES = 4  # of guesses until somebody new is in: one at a time beside theirs, and some until it arrives


def basic(login):
    return {"Authorization": "Basic " + base64.b64encode(login.encode()).decode()}


RIGHT, WRONG, NEW = basic("anna:secret"), basic("anna:guess"), basic("vera:other secret")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def ports():
    """Of the proxy: where it keeps the name that browsers ask for, and where it writes its own."""
    return free_port(), free_port()


@pytest.fixture(scope="module")
def server(tmp_path_factory, ports):
    """A server for a team behind a proxy, with one analyst."""
    folder = tmp_path_factory.mktemp("server")
    people = folder / "people"
    hashed = PasswordHasher().hash
    people.write_text(f"anna:analyst:{hashed('secret')}\nvera:viewer:{hashed('other secret')}\n")
    flags = ("--auth-file", str(people), "--public-url", f"https://{NAME}:{ports[0]}", "--trusted-proxy", "127.0.0.1")
    made = Server(folder / "cache", *flags)
    made.log = folder / "log"
    made.start()
    yield made
    made.stop()


def certificate(folder):
    """A key, and a certificate for the name that it signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    names = x509.SubjectAlternativeName([x509.DNSName(NAME), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    today = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).add_extension(names, critical=False)
    made = made.not_valid_before(today - datetime.timedelta(1)).not_valid_after(today + datetime.timedelta(1))
    pem = serialization.Encoding.PEM
    kind, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(pem, kind, plain))
    (folder / "cert.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(pem))


CONFIGURATION = """
daemon off; pid {folder}/pid; error_log stderr;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
  map $http_upgrade $kept_open {{ default upgrade; "" ""; }}
  server {{
    listen 127.0.0.1:{kept} ssl;
    location / {{
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $kept_open;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_pass http://127.0.0.1:{server};
    }}
  }}
  server {{
    listen 127.0.0.1:{rewritten} ssl;
    {readme}
  }}
}}
"""


def block_of_the_readme(port):
    """What the README tells to write into nginx's configuration, for this server."""
    (block,) = re.findall(r"```nginx\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block.count("http://127.0.0.1:8050;") == 1
    return block.replace("http://127.0.0.1:8050;", f"http://127.0.0.1:{port};")


@pytest.fixture(scope="module")
def proxy(tmp_path_factory, server, ports):
    """nginx in front of the server, and how to trust it."""
    program = shutil.which("nginx") or shutil.which(ROOT / ".venv" / "nginx" / "usr" / "sbin" / "nginx")
    if program is None:
        pytest.skip("no nginx: make test unpacks Debian's where it may")
    folder = tmp_path_factory.mktemp("nginx")
    certificate(folder)
    places = {"folder": folder, "kept": ports[0], "rewritten": ports[1], "server": server.port}
    text = CONFIGURATION.format(**places, readme=block_of_the_readme(server.port))
    (folder / "nginx.conf").write_text(text)
    process = subprocess.Popen([program, "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")])
    try:
        for port in ports:
            reachable(port)
        yield ssl.create_default_context(cafile=str(folder / "cert.pem"))
    finally:
        process.terminate()
        process.wait()


def reachable(port):
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"nothing listens on {port}")


def asked(connection, method, path, headers, body=None):
    """Status and text of an answer."""
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@pytest.mark.parametrize("way", ["kept", "rewritten"])
def test_behind_a_proxy_with_tls_everything_works(proxy, ports, way):
    """Page, API, submissions and the WebSocket, where the proxy keeps the name and as the README writes it."""
    public, port = f"https://{NAME}:{ports[0]}", ports[way == "rewritten"]
    headers = {**RIGHT, "Host": f"{NAME}:{ports[0]}", "Origin": public, "Sec-Fetch-Site": "same-origin"}
    with closing(http.client.HTTPSConnection("127.0.0.1", port, context=proxy)) as connection:
        assert asked(connection, "GET", "/", headers)[0] == 200
        wanted = {"model": "smollm2-135m-instruct", "methods": ["function"], "layers": [int(way == "kept")]}
        body, headers = json.dumps(wanted), {**headers, "Content-Type": "application/json"}
        status, told = asked(connection, "POST", "/api/jobs", headers, body)
        assert status == 202, told
        job = json.loads(told)["id"]
        assert asked(connection, "POST", "/api/jobs", {**headers, "Origin": "https://evil.test"}, body)[0] == 403
    address = f"wss://{NAME}:{ports[0]}/live/jobs"
    line = socket.create_connection(("127.0.0.1", port))
    with connect(address, sock=line, ssl=proxy, origin=public, additional_headers=RIGHT) as live:
        told = live.recv()
        while job not in told:  # what a page was told a moment ago
            told = live.recv(timeout=10)


def test_the_name_under_which_it_is_called_is_checked(server):
    """Its own address and the public one are answered, another one is not."""
    for name, status in {f"127.0.0.1:{server.port}": 200, NAME: 200, "evil.test": 400}.items():
        assert server.status("/api/health", headers={**RIGHT, "Host": name}) == status


def test_half_sent_requests_do_not_keep_others_out(server):
    """A thousand connections that never finish their headers: others are answered, and the connections are closed."""
    silent = []
    for _ in range(1000):
        made = socket.create_connection(("127.0.0.1", server.port))
        made.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        silent.append(made)
    assert server.status("/api/health", headers=RIGHT) == 200
    kept = [made for made in silent if not is_closed(made, 0)]
    assert len(kept) <= UNFINISHED
    assert all(is_closed(made, 2 * HEADER_SECONDS) for made in kept)  # those that nobody pushed out, by the time
    for made in silent:
        made.close()


def is_closed(line, seconds):
    """Whether the server ends a connection within some time."""
    line.settimeout(seconds)
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True
    except (TimeoutError, BlockingIOError):
        return False


@pytest.fixture
def connected(monkeypatch):
    """Connects somebody who says nothing, where so many are connected already; says who was sent away."""
    ended = []
    monkeypatch.setattr(
        AutoHTTPProtocol, "connection_made", lambda made, transport: setattr(made, "transport", transport)
    )
    for kept in ("_unfinished", "_bodies"):
        monkeypatch.setattr(connections, kept, {})
    monkeypatch.setattr(connections, "_count", Counter())

    def connect(name, already=0, address="127.0.0.1", body=False):
        made = Connection.__new__(Connection)
        made.connections, made._late, made._beside = range(already), None, 0
        made.loop = SimpleNamespace(call_later=lambda *_: SimpleNamespace(cancel=lambda: None))
        peer = SimpleNamespace(abort=lambda: ended.append(name), get_extra_info=lambda _: (address, 1))
        made.connection_made(peer)
        if body:
            connections._bodies[made] = None
        return ended

    return connect


def test_connections_have_a_limit(connected):
    """One too many is ended at once, and only that one."""
    most = connections.most_connections()
    assert 100 < most <= connections.CONNECTIONS
    assert connected("the last", most) == []
    assert connected("one more", most + 1) == ["one more"]


def test_where_there_are_too_many_the_oldest_unfinished_body_makes_room(connected):
    """Who announced a body and does not send it goes before anybody new is refused."""
    most = connections.most_connections()
    for name in ("first", "second"):
        connected(name, body=True)
    assert connected("new", most + 1) == ["first"]
    assert connected("newer", most + 1) == ["first", "second"]
    assert connected("newest", most + 1) == ["first", "second", "newest"]


def test_one_address_has_some_connections_only(connected, monkeypatch):
    """Of IPv6 one network; this machine and trusted proxies, through which many people come, may have more."""
    monkeypatch.setattr(Connection, "may_be_many", Connection.may_be_many)
    connections.trust(["10.0.0.0/8"])
    monkeypatch.setattr(connections, "UNFINISHED", 10_000)
    for number in range(connections.OF_ONE + 2):
        for address in ("127.0.0.1", "10.1.1.1", "192.0.2.1", f"2001:db8::{number:x}"):
            ended = connected(f"{address} {number}", address=address)
    last = [connections.OF_ONE, connections.OF_ONE + 1]
    assert ended == [f"{address}{number}" for number in last for address in ("192.0.2.1 ", f"2001:db8::{number:x} ")]


def post_without_body(server):
    """Somebody elsewhere who announces a body and sends none."""
    line = socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.9", 0))
    login = "".join(f"{name}: {value}\r\n" for name, value in RIGHT.items())
    line.sendall(f"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\n{login}Content-Length: 5\r\n\r\n".encode())
    return line


def test_nobody_holds_all_places(server):
    """Who announces bodies and sends none has some connections; when they are closed, as many may be opened again."""
    for _ in range(2):
        lines = [post_without_body(server) for _ in range(connections.OF_ONE + 20)]
        assert server.status("/api/health", headers=RIGHT) == 200
        kept = [line for line in lines if not is_closed(line, 0)]
        for line in lines:
            line.close()
        time.sleep(0.2)
        assert len(kept) == connections.OF_ONE


def test_what_stands_beside_a_body_has_a_bound(server):
    """Endless headers, and endless trailers behind a body in chunks, end the connection; a long body does not."""
    start = b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + RIGHT["Authorization"].encode()
    header, chunked = b"\r\nX-Long: " + b"x" * 300_000, b"\r\nTransfer-Encoding: chunked\r\n\r\n"
    for request in (start + header, start + chunked + b"1\r\nx\r\n0" + header):
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            with suppress(ConnectionError):
                line.sendall(request)
            assert is_closed(line, HEADER_SECONDS / 2)
    body = json.dumps({"model": "..", "files": [{"name": "a.csv", "content": "x" * 1_000_000}]})
    with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
        assert asked(connection, "POST", "/api/jobs", {**RIGHT, "Content-Type": "application/json"}, body)[0] == 422


def test_who_reads_nothing_is_sent_away(monkeypatch):
    """A client that asks for much and reads none of it loses its connection after a while."""
    monkeypatch.setattr(connections, "READ_SECONDS", 0.2)
    ended = asyncio.Event()

    async def much(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(20_000_000), "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        ended.set()

    async def talk():
        kind = partial(Connection, uvicorn.Config(much, http=Connection, ws=Socket), uvicorn.server.ServerState(), {})
        listening = await asyncio.get_running_loop().create_server(kind, "127.0.0.1", 0)
        with socket.create_connection(listening.sockets[0].getsockname()) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await asyncio.wait_for(ended.wait(), 5)
        listening.close()
        await listening.wait_closed()

    asyncio.run(talk())
    assert not connections._count


def test_of_those_who_say_nothing_the_oldest_go_first(connected):
    """As many as may be stay; each further one sends one away."""
    for number in range(UNFINISHED + 2):
        ended = connected(number)
    assert ended == [0, 1]


def test_connections_that_are_kept_stay_usable(server):
    """The time for headers begins with each request and ends with its headers."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
        for _ in range(3):
            assert asked(connection, "GET", "/api/health", RIGHT)[0] == 200
            time.sleep(0.2)


def test_guesses_wait_and_are_logged_and_known_people_do_not_wait(server):
    """After some wrong logins an address gets 429, who is known gets in at once; a forwarded address needs trust."""
    assert server.status("/api/health", headers=RIGHT) == 200
    codes = [server.status("/api/health", headers={**WRONG, "X-Forwarded-For": "10.1.1.1"}) for _ in range(8)]
    assert codes[:5] == [401] * 5
    assert codes[-1] == 429
    assert server.status("/api/health", headers=RIGHT) == 200
    elsewhere = http.client.HTTPConnection("127.0.0.1", server.port, source_address=("127.0.0.9", 0))
    with closing(elsewhere) as liar:
        assert asked(liar, "GET", "/api/health", {**WRONG, "X-Forwarded-For": "10.2.2.2"})[0] == 401
    log = server.log.read_text()
    assert "wrong login of 'anna' from 10.1.1.1" in log
    assert "wrong login of 'anna' from 127.0.0.9" in log
    assert "10.2.2.2" not in log
    assert "guess" not in log


def guess_until(end, server, number):
    """Somebody elsewhere who tries one password after the other, whatever the answers are; says how many."""
    count = 0
    while time.monotonic() < end[0]:
        server.status("/api/health", headers={**basic(f"anna:{count}"), "X-Forwarded-For": f"10.3.1.{number}"})
        count += 1
    return count


def test_a_right_login_gets_in_during_a_flood(server, capsys):
    """Sixteen others guess in a loop; somebody new with the right password is let in after a few hashes, at once."""
    people, end = 16, [time.monotonic() + 60]
    with ThreadPoolExecutor(people) as pool:
        guessing = [pool.submit(guess_until, end, server, number) for number in range(people)]
        while len(set(re.findall(r"from 10\.3\.1\.\d+", server.log.read_text()))) < people:  # each has guessed wrong
            time.sleep(0.1)
        before, start = server.log.read_text().count("wrong login"), time.monotonic()
        status = server.status("/api/health", headers={**NEW, "X-Forwarded-For": "10.4.4.4"})
        seconds, hashes = time.monotonic() - start, server.log.read_text().count("wrong login") - before
        end[0] = 0
        guesses = sum(one.result() for one in guessing)
    with capsys.disabled():
        print(f"\na right login among {guesses} guesses: in after {seconds:.1f} s and {hashes} wrong ones")
    assert status == 200
    assert hashes <= MOST_HASHES


def test_frames_of_a_page_are_not_listened_to(server):
    """Text and bytes change nothing and leave no trace in the log; a frame that is too large ends the socket."""
    address = f"ws://127.0.0.1:{server.port}/live/jobs"
    with connect(address, additional_headers=RIGHT) as live:
        live.recv()
        for frame in ("hello", b"\x00\xff", b"x" * 4000):
            live.send(frame)
        assert live.ping().wait(10)
    with connect(address, additional_headers=RIGHT) as live:
        live.recv()
        live.send(b"x" * 100_000)
        with pytest.raises(ConnectionClosedError, match="too big"):
            list(live)
    assert "Traceback" not in server.log.read_text()
