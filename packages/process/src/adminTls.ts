import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { messageOf, UsageError } from "@isthmus/core";
import type { Command } from "commander";

/** Where the admin port's certificate and key are, PEM files as a Secret of type kubernetes.io/tls is mounted. */
export interface AdminTls {
  readonly certificate: string;
  readonly key: string;
  /** How often they are looked at for changes, in milliseconds. Default: a minute. */
  readonly checkMs?: number;
}

/** What the command line says of it. */
export interface AdminTlsFlags {
  readonly adminTlsCert?: string;
  readonly adminTlsKey?: string;
}

/** Adds `--admin-tls-cert` and `--admin-tls-key` to `command` itself; `adminTlsIn` reads them. */
export function addAdminTlsOptions(command: Command): Command {
  return command
    .option(
      "--admin-tls-cert <file>",
      "PEM certificate of the admin port, which then uses TLS and accepts ordinary tokens of the Kubernetes API",
    )
    .option("--admin-tls-key <file>", "PEM private key of the certificate of the admin port");
}

/** Throws UsageError for one without the other. */
export function adminTlsIn({ adminTlsCert: certificate, adminTlsKey: key }: AdminTlsFlags): AdminTls | undefined {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) throw new UsageError("--admin-tls-cert and --admin-tls-key must be set together");
  return { certificate, key };
}

/** What the files say. Throws UsageError, naming the option, for what cannot be used. */
export function readAdminTls({ certificate, key }: AdminTls): SecureContextOptions {
  const context: SecureContextOptions = { cert: read("--admin-tls-cert", certificate), key: read("--admin-tls-key", key), ...VERSIONS };
  try {
    createSecureContext(context);
  } catch (error) {
    throw new UsageError(
      `--admin-tls-cert ${certificate}, --admin-tls-key ${key}: not a certificate with its private key: ${messageOf(error)}`,
    );
  }
  return context;
}

/** Calls `changed` with what the files say when they say something else, until stopped. What cannot be used, as half of it is written, is passed over. */
export function watchAdminTls(files: AdminTls, changed: (context: SecureContextOptions) => void): { stop(): void } {
  let last = textOf(readAdminTls(files));
  const timer = setInterval(() => {
    try {
      const context = readAdminTls(files);
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
