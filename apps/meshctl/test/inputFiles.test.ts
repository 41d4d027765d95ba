import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readInputFiles } from "../src/offline/inputFiles.ts";
import { type RecordedIo, recordedIo } from "./recordedIo.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "meshctl-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (path: string, text = "a: 1"): void => {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const read = async (...paths: readonly string[]): Promise<readonly string[]> => {
  const files = await readInputFiles(paths, recordedIo("from: stdin"));
  return files.map(({ name, text }) => `${name.replace(`${folder}/`, "")}=${text}`);
};

describe("readInputFiles", () => {
  it("reads files as named, standard input, and folders to their depth in name order", async () => {
    for (const path of ["b.yml", "a.yaml", "deep/er/c.json", "notes.txt", ".hidden.yaml", ".git/x.yaml"]) write(path, path);
    write("plain", "x: 1");
    expect(await read(join(folder, "plain"), "-", folder)).toEqual([
      "plain=x: 1",
      "standard input=from: stdin",
      "a.yaml=a.yaml",
      "b.yml=b.yml",
      "deep/er/c.json=deep/er/c.json",
    ]);
  });

  it("follows symbolic links, but not round in circles", async () => {
    write("real/a.yaml");
    symlinkSync(join(folder, "real/a.yaml"), join(folder, "linked.yaml"));
    symlinkSync(folder, join(folder, "real/back"));
    expect(await read(folder)).toEqual(["linked.yaml=a: 1", "real/a.yaml=a: 1"]);
  });

  it("reads UTF-16 with a byte order mark, as Windows' own shell writes it, and takes the mark of UTF-8 off", async () => {
    const little = Buffer.from("\ufeffa: ä", "utf16le");
    writeFileSync(join(folder, "little.yaml"), little);
    writeFileSync(join(folder, "big.yaml"), Buffer.from(little).swap16());
    writeFileSync(join(folder, "marked.yaml"), "\ufeffa: ä");
    expect(await read(folder)).toEqual(["big.yaml=a: ä", "little.yaml=a: ä", "marked.yaml=a: ä"]);
  });

  it("reads a file once that is named twice, by itself or by its directory", async () => {
    write("a.yaml");
    expect(await read(join(folder, "a.yaml"), `${folder}/./a.yaml`, folder)).toEqual(["a.yaml=a: 1"]);
  });

  it("says what to do about paths that cannot name a file", async () => {
    symlinkSync(join(folder, "loop"), join(folder, "loop"));
    write("file");
    const problems = {
      "": "-f: must not be empty: name a file or a directory, or - for standard input",
      [join(folder, "*.yaml")]: "*.yaml: no such file or directory: patterns are for the shell to expand: remove the quotes",
      "http://example.com/x.yaml":
        "http://example.com/x.yaml: no such file or directory: URLs are not read: curl -sSfL http://example.com/x.yaml | meshctl validate -f -",
      [join(folder, "loop")]: "loop: symbolic links lead in a circle",
      [join(folder, "file/x")]: "file/x: a part of the path is not a directory",
      ["n".repeat(300)]: `${"n".repeat(253)}...: the name is too long for a file`,
    };
    for (const [path, problem] of Object.entries(problems)) await expect(read(path)).rejects.toThrow(problem);
    await expect(read(join(folder, "none.yaml"))).rejects.toThrow(/no such file or directory$/);
  });

  it("names what it can't read", async () => {
    mkdirSync(join(folder, "empty"));
    writeFileSync(join(folder, "binary.yaml"), Buffer.from([0xff, 0xfe, 0x00]));
    symlinkSync(join(folder, "gone"), join(folder, "dangling.yaml"));
    await expect(read(join(folder, "none.yaml"))).rejects.toThrow(`${folder}/none.yaml: no such file or directory`);
    await expect(read(join(folder, "empty"))).rejects.toThrow(`${folder}/empty: no .yaml, .yml or .json file in this directory`);
    await expect(read(join(folder, "binary.yaml"))).rejects.toThrow("binary.yaml:1: is not UTF-8 text");
    await expect(read(join(folder, "dangling.yaml"))).rejects.toThrow("dangling.yaml: no such file or directory");
    await expect(read(folder)).rejects.toThrow("dangling.yaml: no such file or directory");
    const latin1: RecordedIo = { ...recordedIo(), readInput: async () => Buffer.from("a: 1\nb: ä", "latin1") };
    await expect(readInputFiles(["-"], latin1)).rejects.toThrow("standard input:2: is not UTF-8 text");
    await expect(read("-", "-")).rejects.toThrow("standard input can only be read once");
  });
});
