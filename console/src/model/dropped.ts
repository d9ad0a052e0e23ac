/** Files of a drop or a file dialog, with their paths inside the dropped folder. */

const MOST_FILES = 1000;
const MOST_BYTES = 20 * 1024 * 1024;
const SKIPPED = /(^|\/)(\.git|\.hg|node_modules|\.venv|__pycache__)(\/|$)/;

/** Read files as text, by path. Raises Error if there are too many. */
export async function read(files: Iterable<File>): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let bytes = 0;
  for (const file of files) {
    const path = (file.webkitRelativePath || (file as File & { path?: string }).path || file.name).replace(
      /^\.?\//,
      "",
    );
    if (SKIPPED.test(path)) continue;
    bytes += file.size;
    if (found.size >= MOST_FILES || bytes > MOST_BYTES) {
      throw new Error(`More than ${MOST_FILES} files or ${MOST_BYTES / 1024 / 1024} MiB.`);
    }
    found.set(path, contentOf(new Uint8Array(await file.arrayBuffer())));
  }
  return withoutCommonFolder(found);
}

const BASE64_LINE = 76;

/** Return a file's text; content that is no text in Base64, as the command-line clients send it. */
export function contentOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    let binary = "";
    for (const byte of bytes) binary += String.fromCharCode(byte);
    const lines = btoa(binary).match(new RegExp(`.{1,${BASE64_LINE}}`, "g")) ?? [];
    return lines.map((line) => `${line}\n`).join("");
  }
}

/** Return files without the folder that contains all of them. */
export function withoutCommonFolder(files: Map<string, string>): Map<string, string> {
  const names = [...files.keys()];
  const folder = names[0]?.split("/")[0];
  if (!names.length || names.some((name) => !name.includes("/") || name.split("/")[0] !== folder))
    return files;
  return new Map([...files].map(([name, text]) => [name.slice((folder ?? "").length + 1), text]));
}

/** Return the files of a drop, also those inside of folders. */
export async function dropped(transfer: DataTransfer): Promise<File[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => !!entry);
  if (entries.length === 0) return [...transfer.files];
  const found: File[] = [];
  const walk = async (entry: FileSystemEntry, path: string): Promise<void> => {
    if (found.length > MOST_FILES || SKIPPED.test(`${path}${entry.name}`)) return;
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) =>
        (entry as FileSystemFileEntry).file(resolve, reject),
      );
      found.push(Object.assign(file, { path: path + entry.name }));
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const page = await new Promise<FileSystemEntry[]>((resolve, reject) =>
        reader.readEntries(resolve, reject),
      );
      if (page.length === 0) break;
      for (const each of page) await walk(each, `${path}${entry.name}/`);
    }
  };
  for (const entry of entries) await walk(entry, "");
  return found;
}
