// Starts "stoker lsp" for YAML and JSON documents, and restarts it when its path changes.

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

const SECTION = "stoker";
const INSTALLATION = 'Install it with: pip install "stoker[lsp]", or set "stoker.path".';

let client: LanguageClient | undefined;
let output: vscode.OutputChannel | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  output = vscode.window.createOutputChannel("Stoker");
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("stoker.restart", restart),
    vscode.commands.registerCommand("stoker.showLog", () => output?.show()),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("stoker.path")) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.needsStop()) {
    await running.stop();
  }
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration(SECTION);
  const command = settings.get<string>("path") || "stoker";
  const folder = vscode.workspace.workspaceFolders?.[0];
  const server: ServerOptions = {
    command,
    args: ["lsp"],
    options: folder?.uri.scheme === "file" ? { cwd: folder.uri.fsPath } : {},
  };
  const options: LanguageClientOptions = {
    documentSelector: ["file", "untitled"].flatMap((scheme) => [
      { scheme, language: "yaml" },
      { scheme, language: "json" },
    ]),
    initializationOptions: { ...settings },
    outputChannel: output,
    synchronize: {
      configurationSection: SECTION,
      fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{yaml,yml,json,template}"),
    },
  };
  client = new LanguageClient("stoker", "Stoker", server, options);
  try {
    await client.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `"${command} lsp" does not start. ${INSTALLATION} (${String(error)})`,
      "Open Settings",
    );
    if (choice) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "stoker.path");
    }
  }
}
