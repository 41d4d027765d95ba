import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundle } from "../../tools/build.mjs";

const LABELS = ["CERTIFICATE REQUEST", "CERTIFICATE", "PRIVATE KEY"];

/** Headers, of which each line could belong to the key, the value or the spaces before it: for a regular expression that goes back, without end. */
function endless(label: string): string {
  const begin = `-----BEGIN ${label}-----\na: b\n`;
  return `${begin}${`${" ".repeat(17)}a\n`.repeat(20)}`.slice(0, 401).concat("!");
}

/** A PEM text around DER. */
function around(label: string, der: Uint8Array): string {
  return `-----BEGIN ${label}-----\n${Buffer.from(der).toString("base64")}\n-----END ${label}-----\n`;
}

/** Sequences within sequences, of indefinite length: as many levels as a block has room for. */
const nestedDer = Uint8Array.from({ length: 6_000 }, (_, i) => (i % 2 === 0 ? 0x30 : 0x80));
/** A sequence of as many NULLs as there is room for. */
const manyDer = Uint8Array.from([0x30, 0x82, 0x17, 0x6c, ...Array.from({ length: 5_996 }, (_, i) => (i % 2 === 0 ? 0x05 : 0x00))]);
/** A sequence that says to be longer than it is. */
const shortDer = Uint8Array.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff, ...new Uint8Array(5_000)]);

// Each stands for all readers: of a request, a certificate, a chain, a key.
const HOSTILE: readonly (readonly [string, string])[] = [
  ...LABELS.map((label) => [`402 bytes of headers of a ${label}`, endless(label)] as const),
  ["8 KiB of letters", "a".repeat(8_191)],
  ["8 KiB of letters, and what is no base64", `${"a".repeat(8_190)}!`],
  ["beginnings without an end", "-----BEGIN CERTIFICATE-----\n".repeat(290)],
  ["dashes", "-".repeat(8_191)],
  ["lines of base64 without an end", `-----BEGIN CERTIFICATE REQUEST-----\n${"A\n".repeat(4_000)}!`],
  ["half a megabyte of lines", "a\n".repeat(250_000)],
  ["a name that does not end", `-----BEGIN ${"A-----".repeat(1_300)}`],
  ...LABELS.map((label) => [`DER of 3,000 levels in a ${label}`, around(label, nestedDer)] as const),
  ...LABELS.map((label) => [`DER of 3,000 members in a ${label}`, around(label, manyDer)] as const),
  ...LABELS.map((label) => [`DER that is cut off in a ${label}`, around(label, shortDer)] as const),
  ["text in a block", around("CERTIFICATE REQUEST", new TextEncoder().encode(endless("CERTIFICATE REQUEST")))],
  ["nothing", ""],
];

/** As long as a program takes to start on a busy machine: one that stalls is ended. */
const LIMIT_MS = 100_000;

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder: string;
beforeAll(async () => {
  // Below node_modules, so that npm packages resolve from there.
  folder = mkdtempSync(join(root, "node_modules/.pem-test-"));
  await bundle(join(root, "tests/security/harness/readPem.ts"), join(folder, "readPem.mjs"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function readersOf(pem: string): Promise<{ readonly out: string; readonly err: string; readonly isStalled: boolean }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(folder, "readPem.mjs")], { stdio: "pipe" });
    let [out, err, isStalled] = ["", "", false];
    const limit = setTimeout(() => {
      isStalled = true;
      child.kill("SIGKILL");
    }, LIMIT_MS);
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(limit);
      resolve({ out, err, isStalled });
    });
    child.stdin.end(pem);
  });
}

describe("a PEM text", () => {
  test.each(HOSTILE)(
    "neither stalls nor ends a program: %s",
    async (_, pem) => {
      const { out, err, isStalled } = await readersOf(pem);
      expect(isStalled, out).toBe(false);
      expect(err).toBe("");
      const readers = ["request", "certificate", "chain", "der", "fingerprints", "authority", "key"];
      const readable = pem.includes("BEGIN CERTIFICATE-") ? [] : ["fingerprints"];
      expect(out.trim().split("\n")).toEqual(
        readers.map((name) => expect.stringMatching(readable.includes(name) ? `^${name} (read|refused)$` : `^${name} refused$`)),
      );
    },
    LIMIT_MS + 10_000,
  );
});
