"""Editors: the extension for Visual Studio Code, and a session of Neovim."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from stoker.cli.authoring.language_server.settings import Settings, settings_of

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors/vscode"
SESSION = """
local buffer, said = vim.api.nvim_get_current_buf(), {}
local function wait(test) return vim.wait(60000, test, 50) end
local attached = false
local id = vim.lsp.start_client({
  name = "stoker", cmd = COMMAND, root_dir = vim.fn.getcwd(),
  init_options = { lint = false },
  on_attach = function() attached = true end,
})
vim.lsp.buf_attach_client(buffer, id)
wait(function() return attached end)
local function found(words)
  return wait(function()
    for _, each in ipairs(vim.diagnostic.get(buffer)) do
      if each.message:find(words, 1, true) then return true end
    end
    return false
  end)
end
said.misspelt = found('did you mean "OS::Nova::Server"?')
vim.api.nvim_buf_set_lines(buffer, 3, 4, false, { "    type: OS::Nova::Server" })
said.missing = found("Property flavor not assigned")
vim.api.nvim_buf_set_lines(buffer, 4, 4, false, { "    properties:", "      fl" })
local document = { uri = vim.uri_from_bufnr(buffer) }
local answers = vim.lsp.buf_request_sync(buffer, "textDocument/completion", {
  textDocument = document, position = { line = 5, character = 8 } }, 60000)
said.labels = {}
for _, answer in pairs(answers or {}) do
  for _, item in ipairs(answer.result.items) do table.insert(said.labels, item.label) end
end
vim.fn.writefile({ vim.fn.json_encode(said) }, "said.json")
vim.cmd("qa!")
"""


def test_extension_has_settings_of_server() -> None:
    package = json.loads((EXTENSION / "package.json").read_text())
    declared = package["contributes"]["configuration"]["properties"]
    sent: dict[str, object] = {}
    for name, setting in declared.items():
        *sections, key = name.removeprefix("stoker.").split(".")
        inner = sent
        for section in sections:
            inner = inner.setdefault(section, {})  # type: ignore[assignment]
        inner[key] = setting["default"]
    assert settings_of({"stoker": sent}) == Settings()
    known = {"path", "environmentFiles", "lint", "fetchDocuments", "cloud"}
    assert set(sent) == known
    assert set(sent["cloud"]) == {"enabled", "name", "url"}  # type: ignore[call-overload]


def test_wrong_settings_are_noticed() -> None:
    assert settings_of({"environmentFiles": "one.yaml"}) is None


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_neovim_shows_findings_and_completes(tmp_path: Path) -> None:
    folder = tmp_path / "with spaces"
    folder.mkdir()
    (folder / "main.yaml").write_text(
        "heat_template_version: 2021-04-16\nresources:\n  a:\n    type: OS::Nova::Sever\n"
    )
    command = f'{{ "{sys.executable}", "-m", "stoker", "lsp" }}'
    script = tmp_path / "session.lua"
    script.write_text(SESSION.replace("COMMAND", command))
    subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "main.yaml", "-c", f"luafile {script}"],
        cwd=folder, check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    said = json.loads((folder / "said.json").read_text())
    assert said["misspelt"]
    assert said["missing"]
    assert "flavor" in said["labels"]


@pytest.mark.long
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_extension_is_packaged(tmp_path: Path) -> None:
    copy = tmp_path / "vscode"
    shutil.copytree(EXTENSION, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    for command in (["npm", "install", "--no-audit", "--no-fund"], ["npm", "run", "package"]):
        subprocess.run(command, cwd=copy, check=True, capture_output=True, timeout=600)
    with zipfile.ZipFile(copy / "dist/stoker.vsix") as package:
        names = set(package.namelist())
    assert {"extension/dist/extension.js", "extension/icon.png"} <= names
    assert not any("node_modules" in name for name in names)
