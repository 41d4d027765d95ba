import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { messageOf, UsageError } from "@isthmus/core";

/** Where a port's certificate and key are, PEM files as a Secret of type kubernetes.io/tls is mounted. */
export interface TlsFiles {
  readonly certificate: string;
  readonly key: string;
  /** What the options that name them begin with, such as `--admin-tls`: for messages. */
  readonly option: string;
  /** How often they are looked at for changes, in milliseconds. Default: a minute. */
  readonly checkMs?: number;
}

/** What the files say. Throws UsageError, naming the option, for what cannot be used. */
export function readTlsFiles({ certificate, key, option }: TlsFiles): SecureContextOptions {
  const context: SecureContextOptions = { cert: read(`${option}-cert`, certificate), key: read(`${option}-key`, key), ...VERSIONS };
  try {
    createSecureContext(context);
  } catch (error) {
    throw new UsageError(
      `${option}-cert ${certificate}, ${option}-key ${key}: not a certificate with its private key: ${messageOf(error)}`,
    );
  }
  return context;
}

/** Calls `changed` with what the files say when they say something else, until stopped. What cannot be used, as half of it is written, is passed over. */
export function watchTlsFiles(files: TlsFiles, changed: (context: SecureContextOptions) => void): { stop(): void } {
  let last = textOf(readTlsFiles(files));
  const timer = setInterval(() => {
    try {
      const context = readTlsFiles(files);
      if (textOf(context) === last) return;
      last = textOf(context);
      changed(context);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
  }, files.checkMs ?? CHECK_MS).unref();
  return { stop: () => clearInterval(timer) };
}

const CHECK_MS = 60_000;

// TLS 1.2 with authenticated encryption alone, and 1.3.
const VERSIONS: SecureContextOptions = {
  minVersion: "TLSv1.2",
  ciphers: "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20",
};

function read(option: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${option} ${path}: ${messageOf(error)}`);
  }
}

function textOf({ cert, key }: SecureContextOptions): string {
  return `${String(cert)}\n${String(key)}`;
}
