import { X509Certificate } from "node:crypto";
import { columnsText } from "../../output/columns.ts";
import { wrapped } from "../../output/fit.ts";
import { plainText } from "../../output/plainText.ts";
import { dataText } from "../dataText.ts";
import { type Entry, fullName } from "./entries.ts";

/** How `meshctl cert` prints. */
export const CERT_FORMATS = ["table", "json", "yaml"] as const;
export type CertFormat = (typeof CERT_FORMATS)[number];

export interface TextOptions {
  readonly format: CertFormat;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Of the terminal. */
  readonly width?: number;
}

/** All certificates. */
export function listText(entries: readonly Entry[], { format, now, width }: TextOptions): string {
  if (format !== "table") return dataText({ certificates: entries.map(({ forecast: _, ...entry }) => entry) }, format);
  const rows = entries.map((entry) => [fullName(entry), entry.cluster || "-", leftText(entry, now), entry.state, entry.next]);
  return columnsText(["NAME", "CLUSTER", "LEFT", "STATE", "NEXT"], rows, { width, isSentenceLast: true });
}

/** How long it is valid yet. */
function leftText({ notAfter }: Entry, now: number): string {
  if (notAfter === undefined) return "-";
  const ms = Date.parse(notAfter) - now;
  if (ms <= 0) return "0";
  if (ms >= DAY_MS) return `${Math.floor(ms / DAY_MS)}d`;
  return ms >= HOUR_MS ? `${Math.floor(ms / HOUR_MS)}h` : `${Math.floor(ms / 60_000)}m`;
}

/** All that is known of one certificate. */
export function inspectText(entry: Entry, { format, now, width = PLAIN_WIDTH }: TextOptions): string {
  const { forecast: _, ...shown } = entry;
  const facts = factsOf(entry);
  if (format !== "table") return dataText({ ...shown, ...facts }, format);
  const lines: (readonly [string, string | undefined])[] = [
    ["Name", fullName(entry)],
    ["Cluster", entry.cluster || "management cluster"],
    ["Namespace", entry.namespace || undefined],
    ["VirtualMesh", entry.virtualMesh],
    ["State", entry.state],
    ["Valid from", entry.notBefore],
    ["Valid until", entry.notAfter === undefined ? undefined : `${entry.notAfter} (${leftText(entry, now)})`],
    ["Next", entry.next],
    ["Subject", facts?.subject],
    ["Issuer", facts?.issuer],
    ["Serial", facts?.serialNumber],
    ["SHA-256", facts?.sha256],
    ["Identities", facts?.subjectAltName],
    ["CA", facts === undefined ? undefined : String(facts.isAuthority)],
    ["Key", facts?.publicKey],
  ];
  return lines.map(([label, value]) => (value === undefined || value === "" ? "" : field(label, value, width))).join("");
}

/** What a certificate says; undefined where it is not known. Only what is public. */
function factsOf({ certificate }: Entry) {
  if (certificate === undefined) return undefined;
  try {
    const x509 = new X509Certificate(certificate);
    const { asymmetricKeyType = "", asymmetricKeyDetails } = x509.publicKey;
    const size = asymmetricKeyDetails?.modulusLength ?? asymmetricKeyDetails?.namedCurve ?? "";
    return {
      subject: x509.subject.replaceAll("\n", ", "),
      issuer: x509.issuer.replaceAll("\n", ", "),
      serialNumber: x509.serialNumber,
      sha256: x509.fingerprint256,
      subjectAltName: x509.subjectAltName ?? "",
      isAuthority: x509.ca,
      publicKey: `${asymmetricKeyType} ${size}`.trim(),
    };
  } catch {
    // The page is of another program: it has no certificate.
    return undefined;
  }
}

/** A line, or several where it is long. */
export function field(label: string, value: string, width: number): string {
  const [first = "", ...rest] = wrapped(plainText(value), Math.max(LEAST_VALUE, width - LABEL));
  return [`${`${label}:`.padEnd(LABEL)}${first}`, ...rest.map((line) => " ".repeat(LABEL) + line)].map((line) => `${line}\n`).join("");
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** In a pipe nothing is cut, but sentences are broken. */
export const PLAIN_WIDTH = 80;
const LABEL = 14;
const LEAST_VALUE = 20;
