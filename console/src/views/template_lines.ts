/** Where resources are defined in the text of a template. */

import { request } from "../api/client";

/** Return the template of a stack as its user wrote it. */
export async function templateText(stackPath: string, signal: AbortSignal): Promise<string> {
  const response = await request("GET", `${stackPath}/template`, {
    headers: { Accept: "application/yaml" },
    signal,
  });
  return response.text();
}

/** Return the line, from 1, on which a resource is defined; null if it is not found. */
export function lineOf(text: string, name: string): number | null {
  const lines = text.split("\n");
  const section = lines.findIndex(
    (line) => /^["']?resources["']?\s*:/i.test(line.trim()) && !/^\s{2,}/.test(line),
  );
  if (section < 0) return null;
  const quoted = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = new RegExp(`^\\s+(["']?)${quoted}\\1\\s*:`);
  const indent =
    /^\s*/.exec(lines.slice(section + 1).find((line) => /^\s+[^\s#]/.test(line)) ?? "")?.[0] ?? "";
  for (let i = section + 1; i < lines.length; i++) {
    const line = lines[i] ?? "";
    if (/^\S/.test(line) && !line.startsWith("#")) break;
    if (line.startsWith(indent) && !/^\s/.test(line.slice(indent.length)) && pattern.test(line)) return i + 1;
  }
  return null;
}

const cached = new Map<string, Promise<string>>();

/** Return the line of a resource in the template of a stack; null if it cannot be had. */
export async function definitionLine(
  stackPath: string,
  name: string,
  signal: AbortSignal,
): Promise<number | null> {
  let text = cached.get(stackPath);
  if (!text) {
    cached.clear();
    text = templateText(stackPath, signal);
    cached.set(stackPath, text);
    setTimeout(() => cached.delete(stackPath), 5000);
  }
  try {
    return lineOf(await text, name);
  } catch {
    cached.delete(stackPath);
    return null;
  }
}
