"""Rules about scripts and cloud-configs of servers."""

from __future__ import annotations

import re

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.scripts import commands, scripts, server_with
from stoker.cli.authoring.lint.views import TemplateView


def _matching(view: TemplateView, pattern: re.Pattern[str], message: str) -> Problems:
    """Yield one problem for each script with a match, outside of comments."""
    for text in scripts(view):
        found = (pattern.search(line) for line in commands(text.value))
        match = next(filter(None, found), None)
        if match is not None:
            found_text = " ".join(match[0].split())[:60]
            yield Problem(f"{message}: {found_text}", text.path)


@rule(
    Group.SECURITY,
    "A script runs a download without checking it.",
    why="""The server runs whatever the other side sends at this moment. A compromised host, or one
        that answers differently to some servers, gets full control.""",
    remedy="Download to a file, compare its checksum, and run it then, or use a package.",
    bad=server_with(
        """|  # here
                #!/bin/sh
                curl -sSL https://get.example.org/install.sh | sudo sh
        """
    ),
    good=server_with(
        """|
                #!/bin/sh
                curl -sSLo install.sh https://get.example.org/install.sh
                echo "$checksum install.sh" | sha256sum -c && sh install.sh
        """
    ),
)
def download_piped_to_shell(view: TemplateView) -> Problems:
    """Yield scripts that pipe curl or wget into an interpreter."""
    return _matching(view, _PIPED, "the script runs a download unchecked")


_PIPED = re.compile(
    r"(?:curl|wget)\b[^|;]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?"
    r"(?:\w+=(?:\"[^\"]*\"|'[^']*'|\S*)\s+)*(?:/bin/)?(?:ba|z|da)?sh\b"
    r"|(?:curl|wget)\b[^|;\n]*\|\s*(?:sudo\s+)?(?:python3?|perl|ruby)\b"
    r"|\b(?:ba)?sh\s+<\(\s*(?:curl|wget)\b"
)


@rule(
    Group.SECURITY,
    "A script downloads without encryption.",
    why="Others on the way can exchange the file. Scripts run with all rights.",
    remedy="Use https, or check the file with a checksum or signature.",
    bad=server_with(
        """|  # here
                #!/bin/sh
                wget http://files.example.org/app.tar.gz
        """
    ),
    good=server_with(
        """|
                #!/bin/sh
                wget https://files.example.org/app.tar.gz
        """
    ),
)
def download_over_http(view: TemplateView) -> Problems:
    """Yield downloads by http from hosts that are not local, in scripts that check nothing."""
    for text in scripts(view):
        if "gpg" in text.value or "sum -c" in text.value:
            continue
        found = (match for line in commands(text.value) for match in _PLAIN.finditer(line))
        host = next((match[1] for match in found if _is_public(match[1])), None)
        if host is not None:
            yield Problem(f"the download from {host} is not encrypted", text.path)


_PLAIN = re.compile(
    r"(?:curl|wget|pip3?\s+install|git\s+clone|rpm\s+-\w+|yum\s+install|dnf\s+install)\b[^\n;|&]*?"
    r"\shttp://([^/\s:\"']+)[^\s\"']*/[^\s\"']+"
)


def _is_public(host: str) -> bool:
    """Return whether a host is neither local nor computed."""
    if re.search(r"[$%{<_]", host) or host.isupper():
        return False
    local = re.match(
        r"(?:localhost$|127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)", host
    )
    return local is None and "." in host and not host.endswith((".local", ".internal"))


@rule(
    Group.SECURITY,
    "A script switches the check of certificates off.",
    why="An encrypted connection to an unknown host protects nothing.",
    remedy="Install the certificate of the authority, and leave the check on.",
    bad=server_with(
        """|  # here
                #!/bin/sh
                curl -k https://files.example.org/app.tar.gz -o app.tar.gz
        """
    ),
    good=server_with(
        """|
                #!/bin/sh
                curl --cacert /etc/ssl/site.pem https://files.example.org/app.tar.gz -o app.tar.gz
        """
    ),
)
def certificate_check_off(view: TemplateView) -> Problems:
    """Yield commands that accept any certificate."""
    return _matching(view, _UNCHECKED, "the certificate is not checked")


_UNCHECKED = re.compile(
    r"\bcurl\b[^\n|;]*\s(?:--insecure|-[a-zA-Z]*k[a-zA-Z]*)(?=\s)|\bwget\b[^\n|;]*--no-check-certificate"
    r"|sslVerify\s*=?\s*false|GIT_SSL_NO_VERIFY=(?:1|true)|PYTHONHTTPSVERIFY=0"
    r"|NODE_TLS_REJECT_UNAUTHORIZED=0|--trusted-host\s+\S+"
)


@rule(
    Group.SECURITY,
    "A script installs packages without checking their signatures.",
    why="A mirror, or others on the way, can exchange packages.",
    remedy="Add the key of the repository, and remove the option.",
    bad=server_with(
        """|  # here
                #!/bin/sh
                apt-get install -y --allow-unauthenticated app
        """
    ),
    good=server_with(
        """|
                #!/bin/sh
                apt-get install -y app
        """
    ),
)
def package_check_off(view: TemplateView) -> Problems:
    """Yield package managers that accept unsigned packages."""
    return _matching(view, _UNSIGNED, "signatures of packages are not checked")


_UNSIGNED = re.compile(
    r"--allow-unauthenticated|--force-yes|--nogpgcheck|--no-gpg-checks?\b|\[trusted=yes\]"
    r"|(?m:^\s*gpgcheck\s*=\s*0)"
)


@rule(
    Group.SECURITY,
    "A script makes files writable for everybody.",
    level=Level.STRICT,
    why="Every process of the server can change the files, and programs among them.",
    remedy="Give the owner or a group the right.",
    bad=server_with(
        """|  # here
                #!/bin/sh
                chmod -R 777 /srv/app
        """
    ),
    good=server_with(
        """|
                #!/bin/sh
                chown -R app: /srv/app
        """
    ),
)
def world_writable_files(view: TemplateView) -> Problems:
    """Yield chmod with a write right for others."""
    return _matching(view, _WRITABLE, "everybody can write")


_WRITABLE = re.compile(r"\bchmod\s+(?:-\w+\s+)*(?:0?[0-7]{2}[2367]|o\+\w*w|a\+\w*w)\b")


@rule(
    Group.SECURITY,
    "A script switches a protection of the server off.",
    level=Level.STRICT,
    why="SELinux, AppArmor and the firewall limit the damage of a compromised service.",
    remedy="Add rules for the service.",
    bad=server_with(
        """|  # here
                #!/bin/sh
                setenforce 0
        """
    ),
    good=server_with(
        """|
                #!/bin/sh
                setsebool -P httpd_can_network_connect on
        """
    ),
)
def protection_off(view: TemplateView) -> Problems:
    """Yield scripts that disable SELinux or the firewall."""
    return _matching(view, _DISABLED, "a protection is switched off")


_DISABLED = re.compile(
    r"\bsetenforce\s+(?:0|permissive)|SELINUX=(?:disabled|permissive)|\bufw\s+disable"
    r"|\biptables\s+(?:-F|--flush)|systemctl\s+(?:stop|disable|mask)\s+(?:--now\s+)?(?:firewalld|apparmor|ufw)"
)


@rule(
    Group.SECURITY,
    "Users can log in with a password, or as root.",
    level=Level.STRICT,
    why="Passwords are guessed by programs all the time; keys cannot be.",
    remedy="Remove ssh_pwauth, PasswordAuthentication and PermitRootLogin.",
    bad=server_with(
        """|  # here
                #cloud-config
                ssh_pwauth: true
        """
    ),
    good=server_with(
        """|
                #cloud-config
                ssh_pwauth: false
        """
    ),
)
def password_login(view: TemplateView) -> Problems:
    """Yield settings that admit logins with passwords or as root."""
    return _matching(view, _LOGIN, "logins are weakened")


_LOGIN = re.compile(
    r"(?im)^\s*ssh_pwauth:\s*[\"']?(?:true|yes|1)|^\s*disable_root:\s*[\"']?(?:false|no|0)"
    r"|^[^#\n]*\bPasswordAuthentication[\s=]+yes|^[^#\n]*\bPermitRootLogin[\s=]+yes"
)


@rule(
    Group.CORRECTNESS,
    "A script asks a question that nobody answers.",
    why="Package managers wait for a confirmation, or stop: the package is not installed.",
    remedy="Add -y.",
    bad=server_with(
        """|  # here
                #!/bin/sh
                apt-get install nginx
        """
    ),
    good=server_with(
        """|
                #!/bin/sh
                apt-get install -y nginx
        """
    ),
)
def install_without_yes(view: TemplateView) -> Problems:
    """Yield commands of package managers without -y."""
    for text in scripts(view):
        if re.search(r"assume-?yes|APT::Get::Assume|\byes\s*\|", text.value, re.IGNORECASE):
            continue
        found = (match[0] for line in commands(text.value) for match in _INSTALL.finditer(line))
        command = next((each for each in found if not _YES.search(each)), None)
        if command is not None:
            yield Problem(f"-y is missing: {' '.join(command.split())[:60]}", text.path)


_INSTALL = re.compile(
    r"(?m)(?:^|[;&|(]|\bsudo|\bthen|\bdo|noninteractive)[ \t]*(?:-\s*)?"
    r"(?:apt-get|apt|yum|dnf|zypper)(?:[ \t]+-\S+)*[ \t]+"
    r"(?:install|remove|upgrade|dist-upgrade)\b[^\n;&|]*"
)
_YES = re.compile(r"\s-(?:[a-zA-Z]*y[a-zA-Z]*|-yes|-assumeyes|-non-interactive|n|-assume-yes|qq)\b")


@rule(
    Group.RELIABILITY,
    "A shell script continues after errors.",
    level=Level.ALL,
    why="A failed step goes unnoticed, and the server reports success.",
    remedy="Write set -e behind the first line.",
    bad=server_with(
        """|  # here
                #!/bin/sh
                apt-get update
                apt-get install -y nginx
                systemctl enable --now nginx
        """
    ),
    good=server_with(
        """|
                #!/bin/sh
                set -e
                apt-get update
                apt-get install -y nginx
                systemctl enable --now nginx
        """
    ),
)
def script_without_errexit(view: TemplateView) -> Problems:
    """Yield shell scripts of several lines without set -e."""
    for text in scripts(view):
        first, _, rest = text.value.partition("\n")
        is_shell = re.match(r"#!\s*(?:/usr)?/bin/(?:env\s+)?(?:ba|da)?sh\b", first) is not None
        is_safe = (
            re.search(r"\bset\s+-\w*e|errexit|set\s+-o\s+errexit", text.value) or "-e" in first
        )
        if is_shell and rest.count("\n") > 2 and not is_safe:
            yield Problem("the script continues after errors", text.path, suggestion="set -e")
