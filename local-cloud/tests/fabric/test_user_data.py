"""User data is processed as cloud-init would: every kind of it, in its order, once."""

import base64
import gzip
import json
import re

import pytest

from localcloud.guest.cloud_init import cloudconfig, files, merging, parts


def multipart(*pieces: tuple[str, str, str | None]) -> str:
    lines = ['Content-Type: multipart/mixed; boundary="=="', "MIME-Version: 1.0", ""]
    for content_type, body, filename in pieces:
        lines += ["--==", f"Content-Type: {content_type}"]
        if filename:
            lines.append(f'Content-Disposition: attachment; filename="{filename}"')
        lines += ["", body]
    return "\n".join([*lines, "--==--", ""])


async def test_exit_code_of_failing_script_is_on_console(world):
    server = await world.boot("web", "10.0.0.5", "#!/bin/sh\necho out; echo err >&2; exit 3\n")
    console = await world.until_console(server, "finished at")
    script = "/var/lib/cloud/instances/web/scripts/part-001"
    assert f"out\nerr\nuser data: {script} ended with exit code 3\n" in console


@pytest.mark.parametrize(
    "wrap", [gzip.compress, lambda data: base64.encodebytes(gzip.compress(data))]
)
async def test_compressed_user_data_is_unpacked(world, wrap):
    server = await world.boot("web", "10.0.0.5", wrap(b"#!/bin/sh\necho unpacked\n"))
    await world.until_console(server, "unpacked\n")


CONFIG = """#cloud-config
hostname: renamed
groups: [{staff2: [daemon]}, plain]
users:
  - default
  - {name: bob, uid: 2000, groups: "staff2, adm", ssh_authorized_keys: [key-of-bob], shell: /bin/sh}
write_files:
  - {path: /etc/deep/one, content: b25l, encoding: b64, permissions: "0640"}
  - {path: /etc/deep/one, content: " more", append: true, permissions: 0640}
  - {path: /home/bob/two, content: two, owner: "bob:bob", defer: true}
bootcmd: [echo bootcmd]
runcmd:
  - echo "runcmd $(hostname) $(cat /etc/deep/one) $(stat -c %a /etc/deep/one)"
  - [echo, "two  words", "$HOME"]
  - cat /home/bob/two /home/bob/.ssh/authorized_keys; grep bob /etc/passwd /etc/group
timezone: Etc/UTC
growpart: {mode: auto}
final_message: "ready after $UPTIME"
"""


async def test_cloud_config_is_applied_in_cloud_inits_order(world):
    server = await world.boot("web", "10.0.0.5", CONFIG)
    console = await world.until_console(server, "ready after")
    lines = console.splitlines()
    ignored = next(
        n
        for n, line in enumerate(lines)
        if line.startswith("cloud-config: ignored in this server: growpart: ")
    )
    assert ignored < lines.index("bootcmd") < lines.index("runcmd renamed one more 640")
    assert "two  words $HOME" in lines
    assert "twokey-of-bob" in lines
    assert "/etc/passwd:bob:x:2000:2000::/home/bob:/bin/sh" in lines
    assert any(line.startswith("/etc/group:staff2:") and "daemon,bob" in line for line in lines)


async def test_programs_run_as_users_of_user_data(world, capabilities):
    if any("only one user id" in lack for lack in capabilities.lacks):
        pytest.skip("this user has no subordinate ids: every program runs as root in servers")
    script = CONFIG.replace("timezone: Etc/UTC", "  - su - bob -c 'id -un; stat -c %U two'")
    server = await world.boot("web", "10.0.0.5", script)
    await world.until_console(server, "bob\nbob\n")


async def test_all_parts_of_a_multipart_archive_are_handled(world):
    handler = (
        "#part-handler\ndef list_types(): return ['text/x-own']\n"
        "def handle_part(data, kind, name, payload): print('handled', kind, name, payload)\n"
    )
    data = multipart(
        ("text/cloud-boothook", "#cloud-boothook\n#!/bin/sh\necho hook $1\n", None),
        ("text/cloud-config", "#cloud-config\nruncmd: [echo configured]\n", None),
        ("text/x-shellscript", "#!/bin/sh\necho script\n", "first.sh"),
        ("text/part-handler", handler, "handler.py"),
        ("text/x-own", "own", "own.txt"),
        ("text/x-cfninitdata", '{"key": 1}', "cfn-init-data"),
        ("text/x-include-url", "#include\nhttp://127.0.0.1/\n", None),
        ("text/upstart-job", "#upstart-job\n", None),
        ("text/plain", "#!/bin/sh\ncat /var/lib/heat-cfntools/cfn-init-data\n", "second.sh"),
    )
    server = await world.boot("web", "10.0.0.5", data)
    console = await world.until_console(server, "finished at")
    assert "hook web\n" in console
    assert "handled __begin__ None None\nhandled text/x-own own.txt own" in console
    assert "part-007: #include is refused" in console
    assert "#upstart-job is ignored" in console
    assert console.index("script\n") < console.index('{"key": 1}') < console.index("finished at")
    assert "configured\n" in console


async def test_boot_hooks_run_at_every_boot(world):
    data = multipart(
        ("text/cloud-boothook", "#cloud-boothook\necho hook\n", None),
        (
            "text/cloud-config",
            "#cloud-config\nbootcmd: [echo bootcmd]\nruncmd: [echo once]\n",
            None,
        ),
    )
    server = await world.boot("web", "10.0.0.5", data)
    await world.until_console(server, "finished at")
    await world.fabric.stop_server("web")
    await world.fabric.boot(server)
    await world.until(lambda: world.console(server).count("bootcmd\n") == 2, "a second bootcmd")
    console = world.console(server)
    assert (console.count("hook\n"), console.count("once\n")) == (2, 1)


async def test_the_results_lie_where_cloud_init_puts_them(world):
    server = await world.boot("web", "10.0.0.5", "#!/bin/sh\necho said\nexit 4\n")
    await world.until_console(server, "finished at")
    cloud = server.disk / "upper/root/var/lib/cloud/instances/web"
    assert (cloud / "user-data.txt").read_text().startswith("#!/bin/sh")
    assert (cloud / "boot-finished").exists()
    log = server.disk / "upper/root/var/log/cloud-init-output.log"
    assert "said\n" in log.read_text()


async def test_scripts_wait_for_cloud_init_and_its_result(world):
    script = """#!/bin/sh
(cloud-init status --wait; cat /run/cloud-init/result.json; echo read) &
exit 5
"""
    server = await world.boot("web", "10.0.0.5", script)
    console = await world.until_console(server, "read\n")
    assert "status: error" in console
    result = json.loads(console[console.index('{\n "v1"') : console.rindex("}") + 1])
    assert "ended with exit code 5" in result["v1"]["errors"][0]


async def test_vendor_data_runs_before_user_data(world):
    vendor = {"cloud-init": "#!/bin/sh\necho from vendor\n"}
    server = await world.boot("web", "10.0.0.5", "#!/bin/sh\necho from user\n", vendor=vendor)
    await world.until_console(server, "from vendor\nfrom user\n")


async def test_power_state_powers_off_after_user_data(world):
    config = "#cloud-config\nruncmd: [echo last]\npower_state: {mode: poweroff, delay: now}\n"
    server = await world.boot("web", "10.0.0.5", config)
    await world.until(lambda: bool(world.exits), "the server ends")
    assert "last\n" in world.console(server)
    assert world.exits[0].code == 0


async def test_output_of_detached_program_is_on_console(world):
    script = "#!/bin/sh\n(sleep 0.3; echo late) &\n"
    server = await world.boot("web", "10.0.0.5", script)
    console = await world.until_console(server, "late\n")
    assert console.index("finished at") < console.index("late")


def test_damaged_and_endless_user_data_is_refused():
    with pytest.raises(ValueError, match="damaged"):
        parts.split(b"\x1f\x8b" + b"junk" * 10)
    bomb = gzip.compress(b"\0" * (parts.LARGEST + 2), compresslevel=1)
    with pytest.raises(ValueError, match="more than"):
        parts.split(bomb)


def test_cloud_config_archive_is_split_into_parts():
    archive = (
        b"#cloud-config-archive\n- '#!/bin/sh'\n- {type: text/cloud-config, content: 'a: 1'}\n"
    )
    assert [part.content_type for part in parts.split(archive)] == [
        parts.SHELL_SCRIPT,
        parts.CLOUD_CONFIG,
    ]


def test_later_cloud_config_replaces_or_merges_keys():
    base = {"runcmd": ["a"], "nested": {"x": 1}}
    default = merging.mergers(merging.DEFAULT)
    assert merging.merge(base, {"runcmd": ["b"]}, default)["runcmd"] == ["b"]
    append = merging.mergers("list(append)+dict(no_replace,recurse_list,recurse_dict)+str()")
    other = {"runcmd": ["b"], "nested": {"x": 2, "y": 3}}
    assert merging.merge(base, other, append) == {"runcmd": ["a", "b"], "nested": {"x": 1, "y": 3}}


def test_commands_in_lists_are_quoted_for_shell():
    lines = cloudconfig.shell_lines(["plain $X", ["a b", "it's", 5], None]).splitlines()
    assert lines == ["#!/bin/sh", "plain $X", "'a b' 'it'\"'\"'s' 5"]


def test_encodings_of_written_files():
    packed = base64.b64encode(gzip.compress(b"text")).decode()
    for encoding in ("gz+b64", "gzip+base64", "gz+base64"):
        assert files.decode(packed, encoding) == b"text"
    with pytest.raises(ValueError, match="not known"):
        files.decode("x", "rot13")


async def test_console_starts_with_boot_and_ends_with_failure(world):
    server = await world.boot("web", "10.0.0.5", "#!/bin/sh\necho spoken\nexit 3\n")
    console = await world.until_console(server, "finished at")
    lines = console.splitlines()
    assert re.match(r"\[ +\d+\.\d{6}\] Linux version ", lines[0])
    assert any(line.endswith("Host name: web") for line in lines[:5])
    assert any(line.endswith("eth0: 10.0.0.5") for line in lines[:5])
    running = next(
        n for n, line in enumerate(lines) if re.match(r"Cloud-init v. \d+\.\d+ running", line)
    )
    failed = next(n for n, line in enumerate(lines) if line.startswith("[FAILED]"))
    assert running < lines.index("spoken") < failed
    assert lines[failed].endswith("ended with exit code 3")


async def test_a_server_has_an_uptime_of_its_own(world):
    server = await world.boot("web", "10.0.0.5", "#!/bin/sh\necho up $(cat /proc/uptime)\n")
    console = await world.until_console(server, "finished at")
    [line] = [line for line in console.splitlines() if line.startswith("up ")]
    assert float(line.split()[1]) < 60


AUTHORITIES = """#cloud-config
apt: {conf: "APT::Test 1;", sources: {mine: {source: "deb http://127.0.0.1 $RELEASE main"}}}
swap: {filename: /swap, size: 100M}
runcmd:
  - cat /etc/apt/apt.conf.d/94cloud-init-config /etc/apt/sources.list.d/mine.list
"""


async def test_package_sources_are_written_and_omissions_explained(world):
    server = await world.boot("web", "10.0.0.5", AUTHORITIES)
    console = await world.until_console(server, "finished at")
    assert "APT::Test 1;\ndeb http://127.0.0.1 " in console
    assert "$RELEASE" not in console
    assert "cloud-config: swap: not done, as servers have the memory of the host" in console
