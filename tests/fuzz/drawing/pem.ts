import type { Random } from "../../faults/random.ts";
import { mutatedBytes } from "./mutated.ts";

const LABELS = ["CERTIFICATE", "CERTIFICATE REQUEST", "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "A-B C", "", "X509 CRL"];
const LINES = [
  "Proc-Type: 4,ENCRYPTED",
  "a: b",
  "a:",
  ":",
  " ",
  "",
  "\t",
  "AAAA",
  "MIIB",
  "=",
  "==",
  "é",
  "-----",
  "-----BEGIN X-----",
  "a b: c",
  " a: b",
  " folded",
  "\ta: b",
  "\r",
];

/** PEM text: a right one with bytes spoilt, its DER spoilt, or lines of PEM's grammar in any order and number. */
export function hostilePem(random: Random, seeds: readonly string[]): Buffer {
  switch (random.int(4)) {
    case 0:
      return Buffer.from(linesOfPem(random));
    case 1:
      return spoiltDer(random, random.pick(seeds));
    default:
      return mutatedBytes(Buffer.from(random.pick(seeds)), random, 3);
  }
}

function linesOfPem(random: Random): string {
  const label = random.pick(LABELS);
  const ending = random.pick(["\n", "\r\n", "\n\n", "\r"]);
  const lines: string[] = [`-----BEGIN ${label}-----`];
  for (let left = random.int(4); left > 0; left--) {
    // One line many times: a header, an empty line, data.
    for (let times = random.pick([1, 1, 2, 10, 40, 100]), line = random.pick(LINES); times > 0; times--) lines.push(line);
  }
  if (random.int(3) > 0) lines.push(`-----END ${random.int(3) === 0 ? random.pick(LABELS) : label}-----`);
  return lines.join(ending) + (random.int(2) === 0 ? ending : "");
}

function spoiltDer(random: Random, seed: string): Buffer {
  const [first = "", ...rest] = seed.trim().split("\n");
  const end = rest.findIndex((line) => line.startsWith("-----END"));
  const der = Buffer.from(rest.slice(0, end).join(""), "base64");
  const text = mutatedBytes(der, random, 3).toString("base64").replace(/.{64}/g, "$&\n");
  return Buffer.from(`${first}\n${text}\n${rest[end] ?? ""}\n`);
}
